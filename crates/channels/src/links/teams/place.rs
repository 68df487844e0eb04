//! Where something is in Teams, as an answer's address has it: conversations live at services of Microsoft's, each at its own.

use munshi_http::Url;
use serde::{Deserialize, Serialize};

use crate::link::{LinkFault, LinkParts};

/// Where Microsoft's services are for everybody. Anybody may have names under the wider ones of its clouds.
const SERVICES: [&str; 1] = ["smba.trafficmanager.net"];
const SERVICES_UNDER: [&str; 2] = [".botframework.com", ".teams.microsoft.com"];

/// A conversation at its service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TeamsPlace {
    #[serde(rename = "s")]
    pub service: String,
    /// With the thread in it, where it is a channel.
    #[serde(rename = "c")]
    pub conversation: String,
    /// Whom an answer is for where others read along: only they press its buttons.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
}

impl TeamsPlace {
    pub(super) fn write(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(super) fn read(text: &str) -> Option<Self> {
        let place: Self = serde_json::from_str(text).ok()?;
        (!place.conversation.is_empty()).then_some(place)
    }

    /// Where its messages are posted. Our token goes to Microsoft's services alone, whatever an address says.
    pub(super) fn build_activities_url(&self, parts: &LinkParts) -> Result<Url, LinkFault> {
        let refused = || LinkFault::refused("the address is no conversation in Teams");
        let mut url: Url = self.service.parse().map_err(|_| refused())?;
        if !is_service(parts.account.api_url.as_deref(), &url) {
            return Err(LinkFault::refused("the address leads to no service of Microsoft's"));
        }
        url.set_query(None);
        url.set_fragment(None);
        let mut path = url.path_segments_mut().map_err(|()| refused())?;
        path.pop_if_empty().extend(["v3", "conversations", self.conversation.as_str(), "activities"]);
        drop(path);
        Ok(url)
    }
}

/// Whether an address is a service of Microsoft's, or of what stands in its place in tests.
pub(super) fn is_service(instead: Option<&str>, url: &Url) -> bool {
    if let Some(api) = instead.and_then(|api| api.parse::<Url>().ok()) {
        return api.origin() == url.origin();
    }
    let host = url.host_str().unwrap_or_default();
    let is_known = SERVICES.contains(&host) || SERVICES_UNDER.iter().any(|under| host.ends_with(under));
    let is_plain = url.username().is_empty() && url.password().is_none() && url.port().is_none();
    url.scheme() == "https" && is_known && is_plain
}

/// A message, the same in everything that is told of it: ids are unique within a conversation alone.
pub(super) fn name_message(conversation: &str, id: &str) -> String {
    format!("{conversation}|{id}")
}

/// What its conversation calls a message.
pub(super) fn split_message(name: &str) -> Option<&str> {
    name.rsplit_once('|').map(|(_, id)| id).filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_was_written() {
        let place = TeamsPlace {
            service: "https://smba.trafficmanager.net/in/".to_owned(),
            conversation: "19:a@thread.tacv2;messageid=1".to_owned(),
            person: Some("29:1x".to_owned()),
        };
        assert_eq!(TeamsPlace::read(&place.write()), Some(place));
        for text in ["", "{}", "29:1x", "{\"s\":\"https://a\",\"c\":\"\"}"] {
            assert_eq!(TeamsPlace::read(text), None, "{text}");
        }
    }

    #[test]
    fn the_token_goes_to_microsoft_alone() {
        let is_open = |text: &str| is_service(None, &text.parse().unwrap());
        for open in [
            "https://smba.trafficmanager.net/in/",
            "https://europe.botframework.com",
            "https://a.teams.microsoft.com/x",
        ] {
            assert!(is_open(open), "{open}");
        }
        for shut in [
            "http://smba.trafficmanager.net/in/",
            "https://evil.trafficmanager.net/",
            "https://smba.trafficmanager.net.evil.example/",
            "https://evilbotframework.com/",
            "https://smba.trafficmanager.net:8443/",
            "https://smba.trafficmanager.net@evil.example/",
            "https://a:b@smba.trafficmanager.net/",
        ] {
            assert!(!is_open(shut), "{shut}");
        }
        let stand_in = Some("http://127.0.0.1:9");
        assert!(is_service(stand_in, &"http://127.0.0.1:9/in/".parse().unwrap()));
        assert!(!is_service(stand_in, &"http://127.0.0.1:10/in/".parse().unwrap()));
        assert!(!is_service(stand_in, &"https://smba.trafficmanager.net/".parse().unwrap()));
    }
}
