//! What providers write as JSON: what they leave out one day they write as null the next.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads it as if what is null were not there.
pub(super) fn read_without_nulls<T: DeserializeOwned>(mut told: Value) -> Result<T, serde_json::Error> {
    strip_nulls(&mut told);
    serde_json::from_value(told)
}

fn strip_nulls(told: &mut Value) {
    match told {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(strip_nulls);
        }
        Value::Array(items) => {
            items.retain(|item| !item.is_null());
            items.iter_mut().for_each(strip_nulls);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Told {
        #[serde(default)]
        files: Vec<String>,
    }

    #[test]
    fn null_is_nothing() {
        for (told, files) in [
            (json!({ "files": null }), vec![]),
            (json!({}), vec![]),
            (json!({ "files": ["a", null] }), vec!["a".to_owned()]),
        ] {
            assert_eq!(read_without_nulls::<Told>(told).unwrap(), Told { files });
        }
        assert!(read_without_nulls::<Told>(json!(null)).is_err());
        assert!(read_without_nulls::<Told>(json!({ "files": "a" })).is_err());
    }
}
