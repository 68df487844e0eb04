//! The fixed words of the books, as they stand in rows and files.

use std::fmt;
use std::str::FromStr;

use munshi_store::{Column, FromColumn, Param, ToParam};
use serde::{Deserialize, Serialize};

use crate::error::Error;

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident, $noun:literal { $($(#[$case_doc:meta])* $case:ident = $word:literal,)+ })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$case_doc])* #[serde(rename = $word)] $case,)+
        }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$case),+];

            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$case => $word,)+
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self, Error> {
                Self::ALL.iter().find(|word| word.as_str() == text).copied().ok_or_else(|| {
                    let known: Vec<_> = Self::ALL.iter().map(|word| word.as_str()).collect();
                    Error::invalid(format!("`{text}` is no {}: use one of {}", $noun, known.join(", ")))
                })
            }
        }

        impl ToParam for $name {
            fn to_param(&self) -> Param<'_> {
                Param::Text(self.as_str())
            }
        }

        impl FromColumn for $name {
            fn from_column(column: Column<'_>) -> munshi_store::Result<Self> {
                let text = String::from_column(column)?;
                text.parse().map_err(|error: Error| munshi_store::Error::Decode(error.to_string()))
            }
        }
    )+};
}

words! {
    /// What kind of thing happened.
    LedgerEntryKind, "kind of entry" {
        Sale = "sale",
        Purchase = "purchase",
        Expense = "expense",
        /// Goods or money that a contact will pay back.
        CreditGiven = "credit_given",
        /// Goods or money to be paid back to a contact.
        CreditTaken = "credit_taken",
        PaymentReceived = "payment_received",
        PaymentMade = "payment_made",
        /// Between cash and bank.
        Transfer = "transfer",
        /// How things stood when the books began.
        Opening = "opening",
        StockIn = "stock_in",
        StockOut = "stock_out",
    }

    /// How it came to be known.
    LedgerEntrySource, "source" {
        Owner = "owner",
        Sms = "sms",
        Import = "import",
    }

    /// Where money lies.
    PaymentMeans, "means of payment" {
        Cash = "cash",
        Bank = "bank",
    }

    /// Which habit of a contact an entry belongs to.
    HabitSide, "side" {
        /// Goods, services and credit.
        Trade = "trade",
        Payment = "payment",
    }

    /// How the shop stands to GST.
    GstScheme, "scheme" {
        Unregistered = "unregistered",
        Regular = "regular",
        Composition = "composition",
    }
}

impl LedgerEntryKind {
    pub const fn side(self) -> Option<HabitSide> {
        match self {
            Self::Sale | Self::Purchase | Self::Expense | Self::CreditGiven | Self::CreditTaken => {
                Some(HabitSide::Trade)
            }
            Self::PaymentReceived | Self::PaymentMade => Some(HabitSide::Payment),
            Self::Transfer | Self::Opening | Self::StockIn | Self::StockOut => None,
        }
    }
}
