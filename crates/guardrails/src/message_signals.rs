//! What is heard in a message: for the turn, which tells the rules what they can't see in a reply.

use super::lexicon::NamedPatterns;
use super::price::find_prices;
use super::reading::GuardrailReading;
use super::rules::red_flag;
use super::sentences::find_ends;

static ASKS_AI: NamedPatterns = NamedPatterns::new("heard.asks-ai");
static ASKS_PRICE: NamedPatterns = NamedPatterns::new("heard.asks-price");

/// A message or a reply, read once.
#[derive(Debug)]
pub struct MessageSignals(GuardrailReading);

impl MessageSignals {
    pub fn new(text: &str) -> Self {
        Self(GuardrailReading::new(text, &find_ends(text)))
    }

    /// Whether a person asks if they talk to a machine.
    pub fn asks_if_ai(&self) -> bool {
        !ASKS_AI.find(&self.0).is_empty()
    }

    /// Whether a person asks what something costs. Generous: who is told a price unasked loses less than who asks in
    /// vain.
    pub fn asks_price(&self) -> bool {
        !ASKS_PRICE.find(&self.0).is_empty()
    }

    /// Whether a reply names a price.
    pub fn names_price(&self) -> bool {
        !find_prices(&self.0).is_empty()
    }

    /// Whether a person tells of danger to life.
    pub fn tells_of_danger(&self) -> bool {
        red_flag::reports_danger(&self.0)
    }

    /// Whether a reply sends to help.
    pub fn sends_to_help(&self) -> bool {
        red_flag::sends_to_help(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::MessageSignals;

    #[test]
    fn whoever_asks_for_a_machine_is_heard() {
        for asks in [
            "Are you a robot?",
            "are you human or bot",
            "r u real person",
            "Am I talking to a real person?",
            "is this an AI answering",
            "wait, you're a bot right?",
            "क्या आप रोबोट हैं?",
            "आप इंसान हैं या मशीन?",
            "मैं किसी इंसान से बात कर रहा हूँ क्या",
            "aap insaan ho ya bot",
            "tum ai ho kya",
            "kya aap machine ho",
            "நீங்கள் மனிதரா?",
            "நீங்க ரோபோவா",
            "neenga bot ah",
            "আপনি কি রোবট?",
            "apni manush naki bot",
            "તમે રોબોટ છો?",
            "तुम्ही माणूस आहात का",
            "ਤੁਸੀਂ ਰੋਬੋਟ ਹੋ?",
            "మీరు మనిషా రోబోనా",
            "ನೀವು ಮನುಷ್ಯರಾ",
            "നിങ്ങൾ റോബോട്ടാണോ",
            "ଆପଣ ରୋବଟ କି",
        ] {
            assert!(MessageSignals::new(asks).asks_if_ai(), "{asks}");
        }
    }

    #[test]
    fn talk_of_machines_and_people_is_no_such_question() {
        for other in [
            "Do you sell washing machines?",
            "are you open today",
            "you are very kind",
            "how many people came to the shop",
            "my computer is broken, can you send a person",
            "आप सिलाई मशीन बेचते हैं?",
            "aap machine repair karte ho",
            "आज कितनी बिक्री हुई?",
            "ramesh ka hisaab batao",
            "நீங்கள் தையல் மெஷின் விற்கிறீர்களா",
            "আপনি সেলাই মেশিন বিক্রি করেন?",
            "मुझे एक मशीन चाहिए",
        ] {
            assert!(!MessageSignals::new(other).asks_if_ai(), "{other}");
        }
    }

    #[test]
    fn a_price_is_asked_for_and_named() {
        for asks in [
            "how much is the red one",
            "इसका दाम क्या है",
            "kitne ka hai",
            "விலை என்ன",
            "এটার দাম কত",
            "ధర ఎంత",
            "किंमत काय",
        ] {
            assert!(MessageSignals::new(asks).asks_price(), "{asks}");
        }
        assert!(!MessageSignals::new("do you have it in blue").asks_price());
        assert!(MessageSignals::new("It is ₹499.").names_price());
        assert!(!MessageSignals::new("It comes in red.").names_price());
    }

    #[test]
    fn danger_and_help_are_told_apart() {
        assert!(MessageSignals::new("I have severe chest pain").tells_of_danger());
        assert!(!MessageSignals::new("I have a question").tells_of_danger());
        assert!(MessageSignals::new("Call 112 at once.").sends_to_help());
        assert!(!MessageSignals::new("Drink some water.").sends_to_help());
    }
}
