//! For whom a key may speak. A key that stands for a person speaks for them alone; one that stands for a role speaks for
//! anybody who stands no higher.

use std::fmt;

use munshi_identity::{ContactAddress, Person, persons};
use munshi_safety::budget::{self, UsagePlan};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::error_conversions::not_found_error;
use munshi_server::parameters::{field_error, parse_name};
use munshi_store::Tx;
use munshi_types::tier::Channel;
use munshi_types::{ClientScreen, InboundSender, PersonId};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Unexpected, Visitor};
use utoipa::ToSchema;

use super::access::AuthorizedCaller;

/// The person who speaks: an id, or one address.
#[derive(Clone, Debug, ToSchema)]
#[serde(untagged)]
#[schema(as = Who)]
pub(crate) enum SpeakerReference {
    /// An id from an earlier response.
    #[schema(value_type = uuid::Uuid)]
    Id(PersonId),
    Address(SpeakerAddress),
}

/// Told apart by what is there, so that what does not fit is named.
impl<'de> Deserialize<'de> for SpeakerReference {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reading;

        impl<'de> Visitor<'de> for Reading {
            type Value = SpeakerReference;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a person's id, or an object with `phone`, `email`, `handle` or `visitor`")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<SpeakerReference, E> {
                text.parse()
                    .map(SpeakerReference::Id)
                    .map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SpeakerReference, A::Error> {
                SpeakerAddress::deserialize(MapAccessDeserializer::new(map)).map(SpeakerReference::Address)
            }
        }

        deserializer.deserialize_any(Reading)
    }
}

/// Exactly one of the four. A matching person is found, or created.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = WhoAt)]
pub(crate) struct SpeakerAddress {
    /// A verified number, with its country code.
    #[schema(example = "+919812345678")]
    phone: Option<String>,
    #[schema(example = "meera@shop.example")]
    email: Option<String>,
    #[schema(example = "meera")]
    handle: Option<String>,
    /// A secret that the browser keeps. Make it unguessable: it identifies the visitor.
    #[schema(min_length = 16, max_length = 200, example = "5b0f6c1e4d0f4f0f9d3c")]
    visitor: Option<String>,
    /// Their display name.
    #[schema(max_length = 200)]
    name: Option<String>,
}

/// Shorter ones can be guessed.
const VISITOR: usize = 16;

/// Who speaks, as the engine takes it.
#[derive(Clone, Debug)]
pub(crate) struct ApiSpeaker {
    pub(crate) sender: InboundSender,
    /// A browser's id is the web's; everything else came by the API.
    pub(crate) channel: Channel,
    address: Option<ContactAddress>,
}

impl ApiSpeaker {
    /// Somebody new each time, of whom nothing is known.
    pub(crate) fn is_anonymous(&self) -> bool {
        self.sender.person.is_none() && self.address.is_none()
    }
}

/// What is known of them before anything is stored.
pub(crate) struct SpeakerLookup {
    /// None for somebody new.
    pub(crate) person: Option<Person>,
    pub(crate) plan: UsagePlan,
}

/// Which client a key is. Two programs that speak for one person show different things. The command line's keys answer for
/// themselves; no other does, whatever it is called.
pub(crate) fn key_client_id(key: &AuthorizedCaller) -> String {
    let (name, maker) = (&key.caller.key_name, &key.caller.maker.name);
    match name == maker && name.starts_with(ClientScreen::COMMAND_LINE_KEYS) {
        true => ClientScreen::COMMAND_LINE.to_owned(),
        false => key.caller.key.to_string(),
    }
}

impl ApiSpeaker {
    pub(crate) fn resolve(key: &AuthorizedCaller, who: Option<SpeakerReference>) -> Result<Self, ApiError> {
        let own = key.caller.principal.person;
        match (own, who) {
            (Some(own), None) => Ok(Self::from_person(own)),
            (Some(own), Some(SpeakerReference::Id(id))) if own == id => Ok(Self::from_person(own)),
            (Some(_), Some(_)) => Err(ApiError::new(
                ApiErrorCode::Forbidden,
                "This key belongs to one person and may speak only for them.",
            )
            .hint("Omit `person`, or ask an admin of the workspace for a key with a role.")),
            (None, None) => {
                Ok(Self { sender: InboundSender::default(), channel: Channel::Api, address: None })
            }
            (None, Some(SpeakerReference::Id(id))) => Ok(Self::from_person(id)),
            (None, Some(SpeakerReference::Address(at))) => Self::from_address(at),
        }
    }

    /// Whom the key stands for; a key that stands for a role is somebody of its own, the same each time.
    pub(crate) fn for_key(key: &AuthorizedCaller) -> Self {
        match key.caller.principal.person {
            Some(own) => Self::from_person(own),
            None => {
                Self::from_channel_id(format!("key-{}", key.caller.key), Some(key.caller.key_name.clone()))
            }
        }
    }

    /// By one word: a phone, an e-mail, an @handle, or else what the program itself calls them.
    pub(crate) fn parse(key: &AuthorizedCaller, text: &str) -> Result<Self, ApiError> {
        let at = |at| Self::resolve(key, Some(SpeakerReference::Address(at)));
        let text = text.to_owned();
        if text.starts_with('@') {
            return at(SpeakerAddress { handle: Some(text), ..SpeakerAddress::default() });
        }
        if text.contains('@') {
            return at(SpeakerAddress { email: Some(text), ..SpeakerAddress::default() });
        }
        if text.starts_with('+') {
            return at(SpeakerAddress { phone: Some(text), ..SpeakerAddress::default() });
        }
        if key.caller.principal.person.is_some() {
            return at(SpeakerAddress::default());
        }
        let speaker = Self::from_channel_id(text.clone(), None);
        match ContactAddress::channel(Channel::Api.as_str(), &text) {
            Ok(_) => Ok(speaker),
            Err(error) => Err(field_error("person", &error.to_string())),
        }
    }

    fn from_channel_id(id: String, name: Option<String>) -> Self {
        let address = ContactAddress::channel(Channel::Api.as_str(), &id).ok();
        let sender = InboundSender { channel_id: Some(id), name, ..InboundSender::default() };
        Self { sender, channel: Channel::Api, address }
    }

    fn from_person(id: PersonId) -> Self {
        let sender = InboundSender { person: Some(id), ..InboundSender::default() };
        Self { sender, channel: Channel::Api, address: None }
    }

    fn from_address(at: SpeakerAddress) -> Result<Self, ApiError> {
        let called = at.name.as_deref().map(|text| parse_name("person.name", text)).transpose()?;
        let bad = |error: munshi_identity::ContactAddressError| field_error("person", &error.to_string());
        let sender = InboundSender { name: called, ..InboundSender::default() };
        let (sender, channel, address) = match (at.phone, at.email, at.handle, at.visitor) {
            (Some(text), None, None, None) => {
                let address = ContactAddress::phone(&text).map_err(bad)?;
                (InboundSender { phone: Some(text), ..sender }, Channel::Api, address)
            }
            (None, Some(text), None, None) => {
                let address = ContactAddress::email(&text).map_err(bad)?;
                (InboundSender { email: Some(text), ..sender }, Channel::Api, address)
            }
            (None, None, Some(text), None) => {
                let address = ContactAddress::handle(&text).map_err(bad)?;
                (InboundSender { handle: Some(text), ..sender }, Channel::Api, address)
            }
            (None, None, None, Some(text)) if text.len() < VISITOR => {
                let what =
                    format!("a visitor id needs at least {VISITOR} characters, so that it can't be guessed");
                return Err(field_error("person.visitor", &what));
            }
            (None, None, None, Some(text)) => {
                let address = ContactAddress::visitor(&text).map_err(bad)?;
                (InboundSender { channel_id: Some(text), ..sender }, Channel::Web, address)
            }
            _ => return Err(field_error("person", "set exactly one of phone, email, handle and visitor")),
        };
        Ok(Self { sender, channel, address: Some(address) })
    }

    /// Looks them up. Nobody speaks for somebody who stands higher than the key.
    pub(crate) fn load(&self, tx: &mut Tx<'_>, key: &AuthorizedCaller) -> Result<SpeakerLookup, ApiError> {
        let person = match (self.sender.person, &self.address) {
            (Some(id), _) => {
                let found = persons::find_living(tx, id)?;
                Some(found.ok_or_else(|| not_found_error("person", &id.to_string()))?)
            }
            (None, Some(address)) => persons::find_by_address(tx, address)?,
            (None, None) => None,
        };
        if let Some(person) = &person {
            if !key.covers_role(person.role) {
                return Err(ApiError::new(
                    ApiErrorCode::Forbidden,
                    "This person has a higher role than the key.",
                )
                .hint("Ask an owner of the workspace for a key with that role."));
            }
            if person.left_at.is_some() {
                return Err(ApiError::new(ApiErrorCode::Conflict, "This person has left the workspace.")
                    .hint("To reinstate them, run `munshi person set PERSON --back`."));
            }
        }
        let plan = budget::load_plan(tx, key.api.act_services.governor.settings())?;
        Ok(SpeakerLookup { person, plan })
    }

    /// What messages of theirs are counted by, where they are nobody yet.
    pub(crate) fn address(&self) -> Option<&ContactAddress> {
        self.address.as_ref()
    }
}
