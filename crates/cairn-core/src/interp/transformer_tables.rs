//! Hash tables of macro transformers: what `lib/cairn/hash-table.sld` asks of the runtime.
//!
//! The records are the library's, with the fields of [`cairn_layout::object::table`]; entries are found by looking at
//! all of them, for transformers have few. A deleted entry leaves a hole.

use super::machine::{Machine, Value};
use super::stop::{Res, Stop};
use super::values::{Atom, Cells, Val, boolean, cells, fixnum, list, unspecified};
use cairn_layout::object::table as layout;
use cairn_num::{Int, Number};

/// What is where an entry was.
pub(super) const HOLE: Atom = Atom::Broken;

/// The fields of a table; its entries: key, value, key, value, …
struct Table<'t, 'p> {
    record: &'t Cells<super::machine::Procedure<'p>>,
    entries: Cells<super::machine::Procedure<'p>>,
}

impl<'t, 'p> Table<'t, 'p> {
    /// An operand that is one. Tables with weak entries are not made here.
    fn of(x: &'t Value<'p>) -> Res<Self> {
        let Val::Record(record) = x else { return Err(Stop::Operand) };
        let Some(Val::Vector(entries)) = record.borrow().get(Self::place(layout::ENTRIES)).cloned() else {
            return Err(Stop::Unsupported("a weak table"));
        };
        Ok(Table { record, entries })
    }

    /// Where a field is: behind the type.
    fn place(field: u64) -> usize {
        field as usize + 1
    }

    fn number(&self, field: u64) -> Res<i64> {
        match self.record.borrow().get(Self::place(field)) {
            Some(Val::Num(Number::Int(Int::Fix(n)))) => Ok(*n),
            _ => Err(Stop::Operand),
        }
    }

    fn add(&self, field: u64, by: i64) -> Res<()> {
        let n = self.number(field)? + by;
        self.record.borrow_mut()[Self::place(field)] = fixnum(n);
        Ok(())
    }

    fn used(&self) -> Res<usize> {
        Ok(self.number(layout::USED)? as usize)
    }

    fn key(&self, i: usize) -> Value<'p> {
        self.entries.borrow()[2 * i].clone()
    }

    fn value(&self, i: usize) -> Value<'p> {
        self.entries.borrow()[2 * i + 1].clone()
    }

    fn set(&self, i: usize, key: Value<'p>, value: Value<'p>) {
        let mut entries = self.entries.borrow_mut();
        entries[2 * i] = key;
        entries[2 * i + 1] = value;
    }

    /// The entries that are there.
    fn all(&self) -> Res<Vec<usize>> {
        let is_there = |i: &usize| !matches!(self.entries.borrow()[2 * i], Val::Atom(HOLE));
        Ok((0..self.used()?).filter(is_there).collect())
    }

    fn append(&self, key: Value<'p>, value: Value<'p>) -> Res<()> {
        let i = self.used()?;
        // whoever walks the entries knows how many there were
        if self.entries.borrow().len() < 2 * i + 2 {
            self.entries.borrow_mut().resize(4 * i + 2, fixnum(0));
        }
        self.set(i, key, value);
        self.add(layout::USED, 1)?;
        self.add(layout::COUNT, 1)
    }

    fn remove(&self, i: usize) -> Res<()> {
        self.set(i, Val::Atom(HOLE), Val::Atom(HOLE));
        self.add(layout::COUNT, -1)
    }
}

/// Where the value of an entry is in the vector.
fn place_of_value<P>(i: usize) -> Val<P> {
    fixnum(2 * i as i64 + 1)
}

impl<'p> Machine<'p> {
    fn entry_of(&self, table: &Table<'_, 'p>, key: &Value<'p>) -> Res<Option<usize>> {
        let kind = table.number(layout::KIND)?;
        for i in table.all()? {
            self.world.step()?;
            let other = table.key(i);
            let same = match kind {
                layout::EQ => key.is_eq(&other),
                layout::EQV => key.is_eqv(&other),
                _ => self.equal(key, &other)?,
            };
            if same {
                return Ok(Some(i));
            }
        }
        Ok(None)
    }

    /// A call whose name begins with `table-`.
    pub(super) fn table_call(&self, name: &'static str, args: &[Value<'p>]) -> Res<Value<'p>> {
        let Some(table) = args.first() else { return Err(Stop::Operand) };
        let table = Table::of(table)?;
        match (name, &args[1..]) {
            ("table-find-known" | "table-set-known!" | "table-ref-known", _) => Ok(Val::Atom(Atom::Default)),
            ("table-find", [key]) => Ok(self.entry_of(&table, key)?.map_or(boolean(false), place_of_value)),
            ("table-ref", [key, default]) => Ok(match self.entry_of(&table, key)? {
                Some(i) => table.value(i),
                None => default.clone(),
            }),
            ("table-column", [Val::Num(Number::Int(Int::Fix(i)))]) => {
                let all = table.all()?.into_iter();
                Ok(Val::Vector(cells(all.map(|e| if *i == 0 { table.key(e) } else { table.value(e) }).collect())))
            }
            ("table-copy!", [from]) => {
                let from = Table::of(from)?;
                for i in from.all()? {
                    table.append(from.key(i), from.value(i))?;
                }
                Ok(unspecified())
            }
            ("table-set!", [key, value]) => {
                match self.entry_of(&table, key)? {
                    Some(i) => table.set(i, table.key(i), value.clone()),
                    None => table.append(key.clone(), value.clone())?,
                }
                Ok(unspecified())
            }
            ("table-delete!", [key]) => {
                if let Some(i) = self.entry_of(&table, key)? {
                    table.remove(i)?;
                }
                Ok(unspecified())
            }
            // those with this hash, and others: the program compares them
            ("table-candidates", [_hash]) => Ok(list(table.all()?.into_iter().map(place_of_value).collect())),
            ("table-append!", [_hash, key, value]) => {
                table.append(key.clone(), value.clone())?;
                Ok(unspecified())
            }
            ("table-remove!", [Val::Num(Number::Int(Int::Fix(place))), _hash]) => {
                let i = usize::try_from((place - 1) / 2).map_err(|_| Stop::Operand)?;
                if table.all()?.contains(&i) {
                    table.remove(i)?;
                }
                Ok(unspecified())
            }
            _ => Err(Stop::Unsupported(name)),
        }
    }
}
