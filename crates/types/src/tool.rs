//! What a tool is, as everybody needs to know it: the model that may ask for it, the offline model that recognises a
//! request for it, the safety pipeline that decides, and the person who is told what happened.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::consent::ConsentPurposeName;
use crate::language::Language;
use crate::money::Money;
use crate::policy::{Autonomy, Reach};

/// The tool by which a conversation is handed over. It is the engine's own: no other has its name.
pub const HAND_OVER: &str = "hand_over";

/// A tool's full description. Nothing about a tool is decided anywhere else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: ToolName,
    /// For the model: what it does and when to use it.
    pub description: String,
    /// JSON Schema of the arguments; always an object.
    pub parameters: Value,
    /// What a policy allows or denies, such as `ledger.sale.add`; its first part is the module. `{name}` stands for the
    /// argument of that name, so that `users/{id}/reset` can be opened for some and closed for others.
    pub scope: String,
    pub effect: Effect,
    /// From how far out it may be reached.
    pub reach: Reach,
    /// Only whoever owns or runs the business may have it done, unless they have opened its very scope to somebody. A
    /// pattern such as `ledger.*` opens no such tool.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub owner_only: bool,
    /// Below this it is refused; it is not even proposed.
    pub least_autonomy: Autonomy,
    /// Moves money or promises it: agreeing once never covers the next time.
    pub money: bool,
    /// Puts words before somebody else: each draft is approved, unless its template is authorised for that audience.
    pub sends: Option<SendArguments>,
    /// Can do harm that is hard to see coming: always asks, whatever was pre-authorised.
    pub dangerous: bool,
    /// Removes or overwrites what was there.
    pub destructive: bool,
    /// Can say what it would do without doing it.
    pub dry_run: bool,
    /// Its result may be served again for a minute. Never for money or stock.
    pub cacheable: bool,
    /// What one call costs, where it costs money.
    pub cost: Option<Money>,
    pub timeout: Duration,
    /// How long a turn waits for it. What takes longer goes on by itself, and its result is told later.
    #[serde(default, rename = "soft", skip_serializing_if = "Option::is_none")]
    pub wait_at_most: Option<Duration>,
    /// What people say when they want it: short phrases, by language, in either script.
    pub phrases: BTreeMap<Language, Vec<String>>,
    /// Whole sentences with the arguments they mean.
    pub examples: Vec<ToolExample>,
    /// What people often want next; shown as suggestions.
    pub follow_ups: Vec<ToolName>,
    /// What looks for the things it is about, when it found nothing by the words it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<FallbackSearch>,
    /// The phrase that tells the person the result, with the result's fields as its slots.
    pub reply: Option<String>,
    /// Where a message plainly asks for it and nothing else, it is called and told by its reply phrase, with no model asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_no_model: bool,
    /// What happens where a look could carry away what a run knows.
    #[serde(default, skip_serializing_if = "Egress::is_allowed")]
    pub egress: Egress,
    /// What it attaches to its results is shown beside replies, though it is somebody else's tool. Ours always may.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shows: bool,
    /// What it says is told to the model of the turn and kept nowhere: look-ups of health and of public registries. Only for a
    /// tool that reads.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub transient: bool,
    /// Looks at the conversation it is called in. Programs that call tools by themselves have none: they are not offered it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_conversation: bool,
    /// What the person it is called for has to have agreed to first. The tenant's policy declares the purpose; where it does not,
    /// the tool is not offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent: Option<ConsentPurposeName>,
    /// The argument that names whom it is about, where that may be somebody else than the person it is called for: an id, phone, e-mail or
    /// @handle. Then it is their consent that counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

/// A look carries its arguments out. What happens where other people's text may have put private data into them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Egress {
    /// Nothing: what it is given stays with those who may know it.
    #[default]
    Allow,
    /// A person is asked first.
    Ask,
    /// It is refused.
    Deny,
}

impl Egress {
    /// Whether nothing happens.
    pub fn is_allowed(&self) -> bool {
        *self == Self::Allow
    }
}

/// What is told of these is out of date with the next sale: money, what is owed, and what there is still of something. No
/// list of words is whole, so somebody has to have said besides that a result may be told again.
#[rustfmt::skip]
const FLEETING: [&str; 75] = [
    "account", "amount", "availability", "available", "baaki", "bakaya", "baki", "balance", "bid", "bill", "cart", "cash",
    "charge", "cost", "credit", "daam", "dam", "debit", "debt", "discount", "due", "emi", "expense", "fare", "fee", "fund",
    "gst", "hisaab", "hisab", "income", "inr", "inventory", "invoice", "jama", "keemat", "khata", "kimat", "ledger", "left",
    "loan", "money", "mrp", "offer", "owe", "owed", "paid", "paisa", "paise", "pay", "payment", "payout", "price",
    "qty", "quantity", "quote", "rate", "refund", "remaining", "revenue", "rupee", "salary", "seat", "slot", "stock", "sum",
    "tariff", "tax", "total", "udhaar", "udhar", "usd", "vacancy", "vacant", "wage", "wallet",
];

impl ToolSpec {
    /// Whether it tells of money or stock, by the words of its name and scope: a minute is too long for that.
    pub fn is_volatile(&self) -> bool {
        is_volatile_name(self.name.as_str()) || is_volatile_name(&self.scope)
    }
}

/// Whether a name, of a tool or of a field in what it tells, speaks of money or stock: `unit_price`, `itemsLeft`.
pub fn is_volatile_name(name: &str) -> bool {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for letter in name.chars() {
        if !letter.is_ascii_alphanumeric() || (letter.is_ascii_uppercase() && was_small) {
            words.push(String::new());
        }
        was_small = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        if let Some(word) = words.last_mut().filter(|_| letter.is_ascii_alphanumeric()) {
            word.push(letter.to_ascii_lowercase());
        }
    }
    let is = |word: &String| {
        let plain = word.strip_suffix('s').unwrap_or(word);
        FLEETING.contains(&plain) || FLEETING.contains(&word.as_str())
    };
    let is_at_hand = words.windows(2).any(|pair| matches!(pair, [on, hand] if on == "on" && hand == "hand"));
    is_at_hand || words.iter().any(is)
}

/// Which arguments of a tool that sends say to whom, and by which template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendArguments {
    /// The argument that holds the recipient's address or id.
    pub to: String,
    /// The argument that names a template, where the words are not free.
    pub template: Option<String>,
    /// The audience that everybody is in whom it can send to, such as the contacts of a pack's own books; none where who it is says
    /// nothing of that. Such a tool makes its words when it sends: where somebody had to be asked, it is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<String>,
}

/// The tool that searches where another found nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FallbackSearch {
    pub tool: ToolName,
    /// Its argument for the words that are looked for.
    pub argument: String,
}

/// A sentence and what it means.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolExample {
    pub language: Language,
    pub text: String,
    pub arguments: Value,
}

/// What calling a tool does to the world, and so what may be done about a call whose outcome is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Looks only; may be repeated.
    Read,
    /// Writes in our own transaction: happens once with it.
    Inside,
    /// Writes elsewhere under a key that makes repeating harmless.
    Keyed,
    /// Writes elsewhere; whether it happened can be looked up before trying again.
    Checked,
    /// Writes elsewhere with neither: never repeated, a person is asked.
    Once,
}

impl Effect {
    pub const fn writes(self) -> bool {
        !matches!(self, Self::Read)
    }
}

/// A tool's name: small letters, digits and underscores, as every provider accepts. `pack.tool` names the tool of one pack, where
/// several have one of that name; models are told the bare name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolName(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a valid tool name: use 1 to 64 lowercase letters, digits and underscores, starting with a letter; \
     `pack.tool` names the tool of one pack"
)]
pub struct ToolNameError(String);

impl ToolName {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Without the pack.
    pub fn bare(&self) -> &str {
        self.0.rsplit_once('.').map_or(self.0.as_str(), |(_, bare)| bare)
    }

    /// The pack, where the name has one.
    pub fn pack(&self) -> Option<&str> {
        self.0.rsplit_once('.').map(|(pack, _)| pack)
    }

    /// Whether both can mean one tool: a bare name leaves the pack open.
    pub fn overlaps(&self, other: &Self) -> bool {
        let is_open = self.pack().is_none() || other.pack().is_none();
        self.bare() == other.bare() && (is_open || self.pack() == other.pack())
    }

    /// Whether it means this tool: a bare name means that of every pack.
    pub fn means(&self, tool: &ToolSpec) -> bool {
        self.bare() == tool.name.as_str() && self.pack().is_none_or(|pack| pack == tool.module())
    }
}

impl FromStr for ToolName {
    type Err = ToolNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_plain = |text: &str, other: char| {
            (1..=64).contains(&text.len())
                && text.starts_with(|c: char| c.is_ascii_lowercase())
                && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == other)
        };
        let fits = match text.split_once('.') {
            Some((pack, bare)) => is_plain(pack, '-') && is_plain(bare, '_'),
            None => is_plain(text, '_'),
        };
        if fits { Ok(Self(text.to_owned())) } else { Err(ToolNameError(text.to_owned())) }
    }
}

impl TryFrom<String> for ToolName {
    type Error = ToolNameError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ToolName> for String {
    fn from(name: ToolName) -> Self {
        name.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A connector's name: short, since the names of its tools begin with it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ConnectorName(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a valid connector name: use 1 to 24 lowercase letters, digits and underscores, starting with a letter"
)]
pub struct ConnectorNameError(String);

impl ConnectorName {
    const LONGEST: usize = 24;

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ConnectorName {
    type Err = ConnectorNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits =
            text.len() <= Self::LONGEST && text.parse::<ToolName>().is_ok_and(|name| name.pack().is_none());
        if fits { Ok(Self(text.to_owned())) } else { Err(ConnectorNameError(text.to_owned())) }
    }
}

impl TryFrom<String> for ConnectorName {
    type Error = ConnectorNameError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ConnectorName> for String {
    fn from(name: ConnectorName) -> Self {
        name.0
    }
}

impl fmt::Display for ConnectorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What people call a value of an argument, beside it in the schema: for the offline model alone.
const WORDS: &str = "words";

impl ToolSpec {
    /// Its arguments as a model elsewhere is told of them: such a model knows by itself what people call things, and each word is
    /// paid for in every call.
    pub fn model_parameters(&self) -> Cow<'_, Value> {
        let has_words = |property: &Value| property.get(WORDS).is_some_and(Value::is_object);
        let properties = self.parameters.get("properties").and_then(Value::as_object);
        if !properties.is_some_and(|all| all.values().any(has_words)) {
            return Cow::Borrowed(&self.parameters);
        }
        let mut told = self.parameters.clone();
        let properties = told.get_mut("properties").and_then(Value::as_object_mut);
        for property in properties.into_iter().flat_map(|all| all.values_mut()).filter(|one| has_words(one)) {
            property.as_object_mut().map(|property| property.remove(WORDS));
        }
        Cow::Owned(told)
    }

    /// What its scope begins with: `ledger` of `ledger.sale.add`.
    pub fn module(&self) -> &str {
        self.scope.split(['.', '/']).next().unwrap_or_default()
    }

    /// A tool that only looks, with no arguments: the start for `ToolSpec { … ..ToolSpec::read(…) }`.
    pub fn read_only(name: ToolName, description: impl Into<String>, scope: impl Into<String>) -> Self {
        Self {
            name,
            description: description.into(),
            parameters: serde_json::json!({"type": "object", "properties": {}, "additionalProperties": false}),
            scope: scope.into(),
            effect: Effect::Read,
            reach: Reach::default(),
            owner_only: false,
            least_autonomy: Autonomy::Investigate,
            money: false,
            sends: None,
            dangerous: false,
            destructive: false,
            dry_run: false,
            cacheable: false,
            cost: None,
            timeout: Duration::from_secs(10),
            wait_at_most: None,
            phrases: BTreeMap::new(),
            examples: Vec::new(),
            follow_ups: Vec::new(),
            search: None,
            reply: None,
            needs_no_model: false,
            egress: Egress::Allow,
            shows: false,
            transient: false,
            needs_conversation: false,
            consent: None,
            subject: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_elsewhere_is_told_no_words_for_values() {
        let parameters = serde_json::json!({ "type": "object", "properties": {
            "mode": { "enum": ["cash"], "words": { "cash": ["nakad"] } }, "words": { "type": "string" },
        } });
        let look = ToolSpec::read_only("look".parse().unwrap(), "Looks.", "x.read");
        assert!(matches!(look.model_parameters(), Cow::Borrowed(_)));
        let look = ToolSpec { parameters, ..look };
        let told = look.model_parameters();
        assert_eq!(told["properties"]["mode"], serde_json::json!({ "enum": ["cash"] }));
        assert_eq!(told["properties"]["words"]["type"], "string", "an argument may be called so");
    }

    #[test]
    fn names_that_every_provider_accepts() {
        for good in ["log_sale", "a", "who_owes_me_2"] {
            let name: ToolName = good.parse().unwrap();
            assert_eq!((name.as_str(), name.bare(), name.pack()), (good, good, None));
        }
        let name: ToolName = "help-desk.log_sale".parse().unwrap();
        assert_eq!((name.bare(), name.pack()), ("log_sale", Some("help-desk")));
        for bad in
            ["", "2fast", "a.b.c", ".sale", "log.", "log.-", "Log", "log-sale", "बिक्री", &"x".repeat(65)]
        {
            assert!(bad.parse::<ToolName>().is_err(), "{bad}");
        }
        assert_eq!("our_files".parse::<ConnectorName>().unwrap().as_str(), "our_files");
        assert!(
            "Files".parse::<ConnectorName>().is_err() && "x".repeat(25).parse::<ConnectorName>().is_err()
        );
    }

    #[test]
    fn money_and_stock_are_known_by_their_words() {
        for fleeting in [
            "get_quote",
            "cart_total",
            "cost_of",
            "items_left",
            "khata_baki",
            "qty",
            "get_tariff",
            "amount_owed",
            "on_hand",
            "seats_free",
            "unitPrice",
            "stockLevel",
            "shop.stocks.read",
            "BALANCE_DUE",
            "totalMRP",
        ] {
            assert!(is_volatile_name(fleeting), "{fleeting}");
        }
        for steady in
            ["menu", "opening_hours", "weather.read", "separate", "paypal_help", "collect", "handbook", ""]
        {
            assert!(!is_volatile_name(steady), "{steady}");
        }
    }

    #[test]
    fn a_specification_survives_json() {
        let spec = ToolSpec {
            phrases: BTreeMap::from([(Language::Hindi, vec!["kitna baaki hai".to_owned()])]),
            ..ToolSpec::read_only("balance".parse().unwrap(), "What a person owes.", "ledger.balance.read")
        };
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<ToolSpec>(&text).unwrap(), spec);
        assert!(!spec.effect.writes() && Effect::Inside.writes());
    }
}
