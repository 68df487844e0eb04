//! What providers write as JSON: what they leave out one day they write as null the next.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::error::Category;

/// Reads it as if what is null were not there.
pub(super) fn read_without_nulls<T: DeserializeOwned>(mut told: Value) -> Result<T, serde_json::Error> {
    strip_nulls(&mut told);
    serde_json::from_value(told)
}

/// Where something can't be read, without what stands there: it may be anybody's words.
pub(crate) fn describe_fault(error: &serde_json::Error) -> String {
    let what = match error.classify() {
        Category::Syntax => "no JSON",
        Category::Eof => "cut off",
        Category::Data => "of another shape",
        Category::Io => "not all there",
    };
    match error.line() {
        0 => what.to_owned(),
        line => format!("{what} at line {line}, column {}", error.column()),
    }
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
    fn nobodys_words_stand_in_a_fault() {
        for told in ["{\"files\": \"my salary\"}", "{\"files\": [\"my salary\"", "my salary"] {
            let fault = describe_fault(&serde_json::from_str::<Told>(told).unwrap_err());
            assert!(!fault.contains("salary") && fault.contains("line 1, column"), "{fault}");
        }
        let fault = describe_fault(&read_without_nulls::<Told>(json!({ "files": "my salary" })).unwrap_err());
        assert_eq!(fault, "of another shape");
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
