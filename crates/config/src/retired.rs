//! Keys of older versions: a file or a variable that still has one is told of it, and everything goes on.

use munshi_toml::QuotedValue;

use crate::problem::{ConfigProblem, SettingOrigin};

/// The key's path, and why it went.
const RETIRED: &[(&str, &str)] =
    &[("routes.realtime_voice", "nothing speaks live, so no model was asked for it")];

/// What to tell whoever still has this key, if there was one.
pub(crate) fn find_retired(section: &str, key: &str, place: &SettingOrigin) -> Option<ConfigProblem> {
    let path = format!("{section}.{key}");
    let (path, why) = RETIRED.iter().find(|(known, _)| *known == path)?;
    let what = format!("{} is no longer a setting and does nothing: {why}", QuotedValue(path));
    let hint = match place {
        SettingOrigin::Environment { variable } => format!("unset {variable}"),
        _ => "remove the line".to_owned(),
    };
    Some(ConfigProblem { place: place.clone(), key: None, what, hint: Some(hint) })
}
