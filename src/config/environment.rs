//! Environment variables laid over the document: `GVQA__BUS__URL=nats://db:4222` sets `bus.url`.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::ConfigError;

/// Start of every variable that sets a key; two underscores separate the parts.
const PREFIX: &str = "GVQA__";

/// Which variable set which key (dotted path).
pub(super) type Origins = BTreeMap<String, String>;

/// Writes every matching variable into `table`; returns where each key came from.
///
/// A value is read as TOML if it is TOML (`true`, `5`, `["a"]`), else as text. Section names are lower-cased; stream
/// ids keep their case if a stream of that name is in the file.
pub(super) fn overlay(
    table: &mut Table,
    variables: impl Iterator<Item = (String, String)>,
) -> Result<Origins, ConfigError> {
    let mut sorted: Vec<_> = variables.filter(|(name, _)| name.starts_with(PREFIX)).collect();
    sorted.sort();
    let mut origins = Origins::new();
    for (name, text) in sorted {
        let path = set(table, &name, &text)?;
        origins.insert(path, name);
    }
    Ok(origins)
}

fn set(table: &mut Table, name: &str, text: &str) -> Result<String, ConfigError> {
    let refuse = |reason: &str| ConfigError::Variable { variable: name.to_owned(), reason: reason.to_owned() };
    let parts: Vec<&str> = name[PREFIX.len()..].split("__").collect();
    if parts.iter().any(|part| part.is_empty()) {
        return Err(refuse("has an empty part: write GVQA__SECTION__KEY"));
    }
    let (last, sections) = parts.split_last().ok_or_else(|| refuse("names no key"))?;
    let mut path = Vec::new();
    let mut place = table;
    for section in sections {
        let key = spelled(place, section);
        path.push(key.clone());
        let next = place.entry(key).or_insert_with(|| Value::Table(Table::new()));
        place = next.as_table_mut().ok_or_else(|| refuse("goes through a key that is not a section"))?;
    }
    let key = spelled(place, last);
    path.push(key.clone());
    place.insert(key, value(text));
    Ok(path.join("."))
}

/// The spelling already used in the document, else lower case.
fn spelled(table: &Table, part: &str) -> String {
    table.keys().find(|key| key.eq_ignore_ascii_case(part)).cloned().unwrap_or_else(|| part.to_ascii_lowercase())
}

fn value(text: &str) -> Value {
    let document = format!("v = {text}");
    document.parse::<Table>().ok().and_then(|mut table| table.remove("v")).unwrap_or_else(|| Value::String(text.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(toml: &str, variables: &[(&str, &str)]) -> Result<(Table, Origins), ConfigError> {
        let mut table: Table = toml.parse().expect("a TOML document");
        let owned = variables.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        let origins = overlay(&mut table, owned)?;
        Ok((table, origins))
    }

    #[test]
    fn variables_win_over_the_file() {
        let (table, origins) =
            over("[bus]\nurl = 'a'\n", &[("GVQA__BUS__URL", "nats://b"), ("PATH", "/bin")]).expect("fits");
        assert_eq!(table["bus"]["url"].as_str(), Some("nats://b"));
        assert_eq!(origins["bus.url"], "GVQA__BUS__URL");
    }

    #[test]
    fn values_are_typed_and_streams_keep_their_case() {
        let (table, _) = over(
            "[streams.Door]\nurl = 'x'\n",
            &[("GVQA__ANSWER__K", "7"), ("GVQA__STREAMS__DOOR__URL", "y"), ("GVQA__A__B", "true")],
        )
        .expect("fits");
        assert_eq!(table["answer"]["k"].as_integer(), Some(7));
        assert_eq!(table["streams"]["Door"]["url"].as_str(), Some("y"));
        assert_eq!(table["a"]["b"].as_bool(), Some(true));
    }

    #[test]
    fn a_variable_that_fits_nowhere_is_named() {
        for name in ["GVQA__", "GVQA__BUS____URL", "GVQA__X__Y"] {
            let error = over("x = 1\n", &[(name, "1")]).expect_err("refused");
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}
