//! What a message is read as.

use jiff::civil::{Date, Time};
use munshi_types::Money;
use serde::Serialize;

/// One message as it came.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sms<'a> {
    pub text: &'a str,
    /// The sender's id or number, where the phone told it.
    pub sender: Option<&'a str>,
    /// The day it came; used for the year where the message has none, and for nothing else.
    pub day: Option<Date>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SmsReading {
    /// Money moved.
    Payment(Box<Payment>),
    /// Nothing to book, and why.
    Nothing(NonPaymentReason),
}

impl SmsReading {
    pub fn payment(&self) -> Option<&Payment> {
        match self {
            Self::Payment(payment) => Some(payment),
            Self::Nothing(_) => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentDirection {
    /// Money came to the owner, or a debt of theirs on a card became less.
    Credit,
    Debit,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    pub direction: PaymentDirection,
    /// Hundredths of `currency`: paise for rupees.
    pub amount: Money,
    pub currency: Currency,
    /// The last digits of the owner's account or card that are shown, four at most.
    pub account: Option<String>,
    pub counterparty: Option<String>,
    /// Set where the money stays the owner's.
    pub purse: Option<OwnTransfer>,
    pub reference: Option<String>,
    /// What is left in the account, in rupees. A card's limit is none.
    pub balance: Option<Money>,
    pub date: Option<Date>,
    pub time: Option<Time>,
    /// Who speaks, by the sender's id or the text.
    pub bank: Option<&'static str>,
    pub certainty: PaymentCertainty,
    /// What made it less than sure, for the question to the owner.
    pub doubts: Vec<PaymentDoubt>,
    /// The word of the message that says what happened.
    pub said: String,
}

/// Where money that stays the owner's went, or came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnTransfer {
    /// The drawer: cash from a machine, cash put into the bank.
    Cash,
    /// Another account or a wallet of the owner's.
    Account,
}

/// Three capital letters, as on a card's bill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Currency([u8; 3]);

impl Currency {
    pub const INR: Self = Self(*b"INR");

    pub(crate) const fn new(code: [u8; 3]) -> Self {
        Self(code)
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("???")
    }
}

/// How far a reading may be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentCertainty {
    /// The owner is asked, with the reading proposed.
    Unsure,
    Likely,
    Sure,
}

impl PaymentCertainty {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unsure => "unsure",
            Self::Likely => "likely",
            Self::Sure => "sure",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentDoubt {
    /// Several amounts could be the one that moved.
    Amount,
    /// The figure has no currency.
    Bare,
    /// The message says that money came and that it went.
    Direction,
    /// It says what was paid without a clear word that it was done.
    Done,
    /// It failed, and yet the account was debited.
    Failed,
    /// It has no verb: an amount, an account and a name.
    Implied,
    /// It sounds like an advertisement or a lure.
    Lure,
    /// A person's number sent it, not a bank's name.
    Person,
    /// Neither account, reference nor counterparty is named.
    Vague,
    /// The amount is not in rupees.
    Foreign,
}

impl PaymentDoubt {
    /// What it does to a reading.
    pub(crate) const fn certainty(self) -> PaymentCertainty {
        match self {
            Self::Bare | Self::Foreign | Self::Vague | Self::Implied => PaymentCertainty::Likely,
            _ => PaymentCertainty::Unsure,
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Amount => "it is not clear which of the amounts moved",
            Self::Bare => "the amount is written without a currency",
            Self::Direction => "it is not clear whether money came or went",
            Self::Done => "it is not clear that it was done",
            Self::Failed => "it failed, and yet it says that money moved",
            Self::Implied => "it has no word for what was done",
            Self::Lure => "it sounds like an advertisement or a lure",
            Self::Person => "a personal number sent it, not a bank",
            Self::Vague => "it names no account, reference or counterparty",
            Self::Foreign => "the amount is not in rupees",
        }
    }
}

/// Why there is nothing to book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NonPaymentReason {
    Otp,
    Request,
    Declined,
    Mandate,
    Future,
    Pending,
    Due,
    Balance,
    Limit,
    Hold,
    Loan,
    Delivery,
    Warning,
    Promotion,
    Investment,
    Receipt,
    /// Between the owner's accounts, which the books have as one.
    Own,
    Other,
}

impl NonPaymentReason {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Otp => "a one-time code: nothing has moved",
            Self::Request => "somebody asks for money: nothing has moved",
            Self::Declined => "it did not go through",
            Self::Mandate => "a standing order was made, changed or ended: nothing has moved",
            Self::Future => "it tells of what will happen",
            Self::Pending => "it has only begun",
            Self::Due => "a bill, statement or reminder of what is due",
            Self::Balance => "it only tells a balance",
            Self::Limit => "it tells of a limit",
            Self::Hold => "money is held back, not taken",
            Self::Loan => "a loan or deposit was approved, opened or is offered: nothing has moved",
            Self::Delivery => "it tells of an order or a delivery",
            Self::Warning => "a warning or a lure to click or call",
            Self::Promotion => "an advertisement",
            Self::Investment => "it tells of units, funds or a provident fund, not of the account",
            Self::Receipt => "a shop or biller thanks for a payment: the bank tells of the payment itself",
            Self::Own => "money went between accounts of your own: the books have them as one",
            Self::Other => "nothing in it says that money moved",
        }
    }
}
