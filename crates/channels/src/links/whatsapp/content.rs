//! What a message says, in words and files.

use munshi_types::MessageId;
use serde_json::Value;

use crate::incoming::ArrivedFile;

/// What stands before the words of a button of ours, so that it is known from any other.
const SAY: &str = "say:";

/// What a button of ours carries: the message that it stands below, and what pressing it says. WhatsApp takes 256 characters with a button and
/// 200 with a row of a list; a choice has 72 at the most.
pub(crate) fn name_button(message: MessageId, choice: &str) -> String {
    format!("{SAY}{message}:{choice}")
}

/// No more contacts or products of one message are told.
const MOST_LISTED: usize = 20;

/// The words of a message and what comes with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MessageContent {
    pub text: String,
    pub files: Vec<ArrivedFile>,
    /// The message whose button they pressed, where the button says it.
    pub answered: Option<MessageId>,
}

/// A button that somebody pressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PressedButton {
    pub words: String,
    /// The message of ours that it stood below, where it says so.
    pub of: Option<MessageId>,
}

impl From<PressedButton> for MessageContent {
    fn from(pressed: PressedButton) -> Self {
        Self { text: pressed.words, answered: pressed.of, files: Vec::new() }
    }
}

/// Never nothing: what nobody can read is named.
pub(super) fn read_content(message: &Value) -> MessageContent {
    let kind = read_text(message, "/type").unwrap_or("unsupported");
    let words = |text: &str| MessageContent { text: text.to_owned(), ..MessageContent::default() };
    match kind {
        "text" => words(&read_words(message)),
        "image" | "video" | "audio" | "voice" | "document" => read_media(message, kind),
        "sticker" => words("[sticker]"),
        "location" => words(&read_location(&message["location"])),
        "contacts" => words(&read_contacts(&message["contacts"])),
        "button" => {
            read_press(read_text(message, "/button/payload"), read_text(message, "/button/text")).into()
        }
        "interactive" => read_interactive(&message["interactive"]),
        "order" => words(&read_order(&message["order"])),
        other => words(&format!("[{}]", clean_kind(other))),
    }
}

/// What they asked about stands below, where they asked about a product.
fn read_words(message: &Value) -> String {
    let body = read_text(message, "/text/body").unwrap_or_default();
    match read_text(message, "/context/referred_product/product_retailer_id") {
        Some(product) => format!("{body}\n[about product {product}]"),
        None => body.to_owned(),
    }
}

fn read_media(message: &Value, kind: &str) -> MessageContent {
    let media = &message[kind];
    let text = read_text(media, "/caption").unwrap_or_default().to_owned();
    match read_text(media, "/id") {
        Some(id) => {
            let file = ArrivedFile {
                reference: id.to_owned(),
                media_type: read_text(media, "/mime_type").unwrap_or_default().to_owned(),
                name: read_text(media, "/filename").map(str::to_owned),
                size: media.get("file_size").and_then(Value::as_u64),
            };
            MessageContent { text, files: vec![file], answered: None }
        }
        // Such as one that is too large: there is nothing to fetch.
        None => {
            MessageContent { text: format!("{text} [{kind}]").trim().to_owned(), ..MessageContent::default() }
        }
    }
}

pub(crate) fn read_location(location: &Value) -> String {
    let words: Vec<&str> = ["/name", "/address"].iter().filter_map(|at| read_text(location, at)).collect();
    let number = |at: &str| match &location[at] {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) if text.parse::<f64>().is_ok() => Some(text.clone()),
        _ => None,
    };
    match (number("latitude"), number("longitude")) {
        (Some(latitude), Some(longitude)) if words.is_empty() => format!("Location: {latitude}, {longitude}"),
        (Some(latitude), Some(longitude)) => {
            format!("Location: {} ({latitude}, {longitude})", words.join(", "))
        }
        _ if words.is_empty() => "[location]".to_owned(),
        _ => format!("Location: {}", words.join(", ")),
    }
}

pub(crate) fn read_contacts(contacts: &Value) -> String {
    let contacts = contacts.as_array().map(Vec::as_slice).unwrap_or_default();
    let lines: Vec<String> = contacts.iter().take(MOST_LISTED).filter_map(read_contact).collect();
    if lines.is_empty() { "[contacts]".to_owned() } else { lines.join("\n") }
}

fn read_contact(contact: &Value) -> Option<String> {
    let listed = |at: &str, of: &str| -> Vec<String> {
        let list = contact.get(at).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        list.iter().filter_map(|one| read_text(one, of)).map(str::to_owned).collect()
    };
    let name = read_text(contact, "/name/formatted_name").or_else(|| read_text(contact, "/name/first_name"));
    let company = read_text(contact, "/org/company");
    let mut parts: Vec<String> = [name, company].into_iter().flatten().map(str::to_owned).collect();
    parts.extend(listed("phones", "/phone"));
    parts.extend(listed("emails", "/email"));
    (!parts.is_empty()).then(|| format!("Contact: {}", parts.join(", ")))
}

/// What they pressed: its words, in full where the app showed them shortened.
pub(crate) fn read_press(payload: Option<&str>, shown: Option<&str>) -> PressedButton {
    let own = payload.and_then(|payload| payload.strip_prefix(SAY)).filter(|own| !own.is_empty());
    // Buttons that stand in chats for long have their words alone.
    let (of, own) = match own.and_then(split_button) {
        Some((message, words)) => (Some(message), Some(words)),
        None => (None, own),
    };
    PressedButton { words: own.or(shown).or(payload).unwrap_or("[button]").to_owned(), of }
}

fn split_button(own: &str) -> Option<(MessageId, &str)> {
    let (message, words) = own.split_once(':').filter(|(_, words)| !words.is_empty())?;
    Some((message.parse().ok()?, words))
}

fn read_interactive(interactive: &Value) -> MessageContent {
    for at in ["button_reply", "list_reply"] {
        if let Some(pressed) = interactive.get(at) {
            return read_press(read_text(pressed, "/id"), read_text(pressed, "/title")).into();
        }
    }
    let text = match interactive.get("nfm_reply") {
        Some(form) => format!("[form] {}", read_text(form, "/body").unwrap_or_default()).trim().to_owned(),
        None => format!("[{}]", clean_kind(read_text(interactive, "/type").unwrap_or("interactive"))),
    };
    MessageContent { text, ..MessageContent::default() }
}

fn read_order(order: &Value) -> String {
    let items = order.get("product_items").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let plain = |item: &Value, at: &str| match item.get(at) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let mut lines = vec!["Order:".to_owned()];
    for item in items.iter().take(MOST_LISTED) {
        let (product, price) = (plain(item, "product_retailer_id"), plain(item, "item_price"));
        let (quantity, currency) = (plain(item, "quantity"), plain(item, "currency"));
        lines.push(format!("- {quantity} × {product}, {price} {currency} each").trim().to_owned());
    }
    if items.len() > MOST_LISTED {
        lines.push(format!("- and {} more", items.len() - MOST_LISTED));
    }
    lines.extend(read_text(order, "/text").map(str::to_owned));
    lines.join("\n")
}

fn clean_kind(kind: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | ' ' | '-');
    let word: String = kind.chars().filter(is_plain).take(30).collect();
    let word = word.replace('_', " ");
    if word.trim().is_empty() { "unsupported".to_owned() } else { word }
}

/// A text that is there and not empty.
pub(crate) fn read_text<'a>(value: &'a Value, at: &str) -> Option<&'a str> {
    value.pointer(at).and_then(Value::as_str).filter(|text| !text.is_empty())
}
