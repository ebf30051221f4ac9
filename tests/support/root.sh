# A new root with nothing but git, for scripts that try what a user does on a bare machine. By root, with debootstrap.
#
#   make_root SUITE    makes it in $root: bookworm, trixie, noble, resolute
#   inside CMD...      runs a command there, with nothing of our environment
#   timed CMD...       the same, and notes the time in $report
#
# KEEP=1 leaves the root where it is; ROOT=DIRECTORY names the place, and takes what is there.
root=${ROOT:-$(mktemp -d "${TMPDIR:-/tmp}/cairn-bare-XXXXXX")}
report=
given=()

leave_root() {
  umount "$root/proc" "$root/dev/shm" "$root/dev" 2>/dev/null || true
  [ -n "${KEEP:-}" ] || rm -rf --one-file-system "$root"
}

make_root() {
  local suite=$1 mirror=http://deb.debian.org/debian components=main script keys=
  trap leave_root EXIT
  case $suite in
  bookworm | trixie) ;;
  *)
    mirror=http://archive.ubuntu.com/ubuntu components=main,universe
    [ -e /usr/share/keyrings/ubuntu-archive-keyring.gpg ] || keys=--no-check-gpg
    ;;
  esac
  if [ ! -e "$root/etc/os-release" ]; then
    # Debian's tool knows the suites of its day; all of Ubuntu's are made by one script
    script=/usr/share/debootstrap/scripts/$suite
    [ -e "$script" ] || script=/usr/share/debootstrap/scripts/gutsy
    debootstrap $keys --variant=minbase --components=$components --include=git "$suite" "$root" "$mirror" "$script" \
      >"$root.log" 2>&1 || { tail -n 5 "$root.log" >&2; exit 1; }
    rm -f "$root.log"
    # as every installed Ubuntu has it
    case $mirror in *ubuntu*) echo "deb $mirror $suite-updates main universe" >>"$root/etc/apt/sources.list" ;; esac
  fi
  mount -t proc proc "$root/proc"
  mount --bind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/dev/shm"
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  # where a network has certificates of its own
  if [ -n "${SSL_CERT_FILE:-}" ]; then
    cp -L "$SSL_CERT_FILE" "$root/etc/network-certificates.crt"
    given=(CARGO_HTTP_CAINFO=/etc/network-certificates.crt)
  fi
}

inside() {
  chroot "$root" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${given[@]}" "$@"
}

timed() {
  local began=$SECONDS
  inside "$@" || { echo "failed: $*" >&2; exit 1; }
  report+="$(printf '%5d s  %s' $((SECONDS - began)) "$*")"$'\n'
}
