//! Pages of HTML that need no server: what all have in common.

/// Text, also for attributes.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A page that phones show at their own width.
pub(crate) fn document(title: &str, style: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=en>\n<meta charset=utf-8>\n\
         <meta name=viewport content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n\
         <style>{style}</style>\n{body}</html>\n",
        escaped(title)
    )
}
