//! Entries of a file that are for its reader to judge, with their places.

use std::path::Path;

use super::axis::Axis;
use super::entries::Entries;
use super::inputs::Input;
use super::key::Key;
use crate::error::{Error, Result, input_error};
use crate::workload::Table;

/// Reads files that an experiment names: by path, relative to its own.
pub(in crate::experiment) type ReadFile<'a> = &'a dyn Fn(&Path) -> Result<Vec<u8>>;

/// The text of a file, for messages that name a line of it.
pub(in crate::experiment) struct Source<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

impl Source<'_> {
    /// Puts the place of a problem in front of it.
    pub fn at(&self, start: usize) -> impl Fn(Error) -> Error + '_ {
        let line = self.text[..start.min(self.text.len())].matches('\n').count() + 1;
        move |problem| input_error!("{}, line {line}: {problem}", self.name)
    }
}

pub(in crate::experiment) fn axes(
    source: &Source<'_>,
    entries: &Entries,
    read: ReadFile<'_>,
    inputs: &mut Vec<Input>,
) -> Result<Vec<Axis>> {
    let mut axes: Vec<Axis> = Vec::new();
    for entry in entries.iter() {
        let at = source.at(entry.start);
        let axis = match entry.value.get("file") {
            Some(file) => {
                let file = Path::new(file.as_str().unwrap_or_default());
                let bytes = read(file).map_err(&at)?;
                inputs.push(Input::new("axis", &file.display().to_string(), &bytes));
                axis_of_file(&entry.key, &entry.value, file, &bytes).map_err(&at)?
            }
            None => Axis::of_entry(&entry.key, &entry.value).map_err(&at)?,
        };
        let known = |key: &String| axes.iter().any(|other| other.keys.contains(key));
        if let Some(key) = axis.keys.iter().find(|key| known(key)) {
            return Err(at(input_error!("axis {}: {key} is on another axis already", entry.key)));
        }
        axes.push(axis);
    }
    Ok(axes)
}

/// An axis of several parameters: `{ file = "settings.csv", keys = ["smact_threshold", "smocc_threshold"] }`, a point
/// for every row.
fn axis_of_file(name: &str, entry: &toml::Value, file: &Path, bytes: &[u8]) -> Result<Axis> {
    let keys: Option<Vec<&str>> = entry
        .get("keys")
        .and_then(toml::Value::as_array)
        .and_then(|keys| keys.iter().map(toml::Value::as_str).collect());
    let other =
        entry.as_table().and_then(|table| table.keys().find(|key| !["file", "keys"].contains(&key.as_str())));
    let (Some(names), None) = (keys.filter(|keys| !keys.is_empty()), other) else {
        return Err(input_error!(
            "axis {name}: expected {{ file = \"settings.csv\", keys = [\"smact_threshold\", ...] }}, the columns of the file \
             that are parameters"
        ));
    };
    if let Some(key) = names.iter().enumerate().find_map(|(i, key)| names[..i].contains(key).then_some(key)) {
        return Err(input_error!("axis {name}: keys: {key} stands there twice; remove one"));
    }
    if Key::find(name).is_ok() {
        return Err(input_error!(
            "axis {name}: is the name of a parameter; give an axis of a file a name of its own"
        ));
    }
    let keys = names.iter().map(|key| Key::find(key)).collect::<Result<Vec<Key>>>()?;
    let source = file.display().to_string();
    let table = Table::parse(&source, bytes, &names)?;
    let values = table.rows().map(|row| {
        let value = |key: &Key| {
            let text = row.required_text(key.name())?;
            key.canonical(text).map_err(|problem| input_error!("{}: {problem}", row.place(key.name())))
        };
        keys.iter().map(value).collect::<Result<Vec<String>>>()
    });
    let values = values.collect::<Result<Vec<_>>>()?;
    let keys = names.into_iter().map(str::to_owned).collect();
    Axis { name: name.to_owned(), keys, values, default: None, log: false }.checked()
}
