//! `today`: date, weekday and time where the tenant is.

use std::collections::BTreeMap;
use std::sync::Arc;

use munshi_safety::acts::{self, Permit};
use munshi_store::Tx;
use munshi_types::{Clock, Language, Reach, Timestamp, ToolNameError, ToolSpec, Zone};
use serde_json::{Value, json};

use crate::handler::{ReadToolHandler, ToolFailure, ToolOutput};

pub(super) struct TodayTool {
    pub clock: Arc<dyn Clock>,
}

impl ReadToolHandler for TodayTool {
    fn read(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let act = acts::find(tx, permit.act())
            .map_err(|error| ToolFailure::transient("store", error.to_string()))?;
        let zone = act.map(|act| act.rests_on.caller.zone).unwrap_or_default();
        Ok(ToolOutput::new(render_now(self.clock.now(), &zone)))
    }
}

fn render_now(now: Timestamp, zone: &Zone) -> Value {
    let here = now.to_jiff().to_zoned(zone.to_jiff());
    json!({
        "date": here.strftime("%Y-%m-%d").to_string(),
        "weekday": here.strftime("%A").to_string(),
        "time": here.strftime("%H:%M").to_string(),
        "zone": zone.as_str(),
    })
}

pub(super) fn spec() -> Result<ToolSpec, ToolNameError> {
    let what = "Tells today's date, the weekday and the time where the business is. \
                Use it before anything that depends on what day or time it is.";
    Ok(ToolSpec {
        reach: Reach::Anyone,
        phrases: phrases(),
        reply: Some("today".to_owned()),
        ..ToolSpec::read_only("today".parse()?, what, "house.today.read")
    })
}

fn phrases() -> BTreeMap<Language, Vec<String>> {
    let said: [(Language, &[&str]); 11] = [
        (Language::English, &["what is the date today", "which day is it today", "what time is it now"]),
        (
            Language::Hindi,
            &["आज क्या तारीख है", "आज कौन सा दिन है", "aaj kya tarikh hai", "abhi kitne baje hain"],
        ),
        (Language::Bengali, &["আজ কত তারিখ", "aaj koto tarikh"]),
        (Language::Gujarati, &["આજે કઈ તારીખ છે", "aaje kai tarikh che"]),
        (Language::Kannada, &["ಇವತ್ತು ಯಾವ ದಿನಾಂಕ", "ivattu yaava dinanka"]),
        (Language::Malayalam, &["ഇന്ന് എന്താണ് തീയതി", "innu enthanu theeyathi"]),
        (Language::Marathi, &["आज कोणती तारीख आहे", "aaj konti tarikh aahe"]),
        (Language::Odia, &["ଆଜି କେତେ ତାରିଖ", "aaji kete tarikh"]),
        (Language::Punjabi, &["ਅੱਜ ਕੀ ਤਾਰੀਖ਼ ਹੈ", "ajj ki tarikh hai"]),
        (Language::Tamil, &["இன்று என்ன தேதி", "indru enna thethi"]),
        (Language::Telugu, &["ఈ రోజు తేదీ ఎంత", "ee roju tedi entha"]),
    ];
    said.into_iter()
        .map(|(language, texts)| (language, texts.iter().map(|text| (*text).to_owned()).collect()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_day_is_the_tenants_own() {
        let night: Timestamp = "2026-11-14T20:00:00Z".parse().unwrap();
        assert_eq!(
            render_now(night, &Zone::default()),
            json!({ "date": "2026-11-15", "weekday": "Sunday", "time": "01:30", "zone": "Asia/Kolkata" })
        );
        assert_eq!(render_now(night, &"America/New_York".parse().unwrap())["date"], "2026-11-14");
    }
}
