use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use toml::{Spanned, Value};

/// A TOML table whose keys are for its reader to judge, in the order of the file and with the places of its entries.
#[derive(Debug, Default)]
pub(in crate::experiment) struct Entries(Vec<Entry>);

#[derive(Debug)]
pub(in crate::experiment) struct Entry {
    pub key: String,
    pub value: Value,
    /// Where it stands in the text, in bytes.
    pub start: usize,
}

impl Entries {
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.0.iter()
    }
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entries, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Entries, M::Error> {
                let mut entries = Vec::new();
                while let Some((key, value)) = map.next_entry::<Spanned<String>, Value>()? {
                    entries.push(Entry { start: key.span().start, key: key.into_inner(), value });
                }
                // The parser hands keys out in the order of their names.
                entries.sort_by_key(|entry| entry.start);
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}
