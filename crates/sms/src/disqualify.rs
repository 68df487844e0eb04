//! What makes nothing of what seems done.

use super::counterparty::{counterparty, payer};
use super::events::{SmsEvent, SmsEventStrength};
use super::lexicon::SmsWordClass;
use super::non_payment::{has_failed, reason};
use super::parsed_message::{AmountRole, ParsedSms, SmsTokenUse};
use super::reading::{NonPaymentReason, PaymentDirection, PaymentDoubt};
use super::sender::SmsSenderKind;
use super::state::SmsEventState;

/// Why the event is not booked after all. What is booked with a doubt has it added.
pub(crate) fn find_disqualification(
    page: &ParsedSms,
    events: &[SmsEvent],
    event: &SmsEvent,
    origin: SmsSenderKind,
    doubts: &mut Vec<PaymentDoubt>,
) -> Option<NonPaymentReason> {
    if page.is_disguised {
        return Some(NonPaymentReason::Promotion);
    }
    if page.has(SmsWordClass::Listing) {
        return Some(NonPaymentReason::Balance);
    }
    if page.has(SmsWordClass::Swindle) && event.class != SmsWordClass::Refunded {
        return Some(NonPaymentReason::Warning);
    }
    let early = check_failed(page, events, event, doubts)
        .or_else(|| {
            (is_receipt(page, event) || is_biller_receipt(page, event)).then_some(NonPaymentReason::Receipt)
        })
        .or_else(|| is_merchant_order(page, event).then_some(NonPaymentReason::Delivery))
        .or_else(|| check_lure(page, event, origin))
        .or_else(|| check_unfinished(page, events, event));
    if early.is_some() {
        return early;
    }
    let clicked =
        (0..page.len()).any(|at| page.cut.lowercase(at) == "click") && page.uses.contains(&SmsTokenUse::Link);
    if clicked && event.direction == PaymentDirection::Debit {
        doubts.push(PaymentDoubt::Lure);
    }
    // "Rs 60 is debited but the payment is pending".
    if event.direction == PaymentDirection::Debit && page.has_in_sentence(event.at, SmsWordClass::Pending) {
        doubts.push(PaymentDoubt::Done);
    }
    if event.weight <= SmsEventStrength::Made {
        return disqualify_noun(page, events, event, doubts);
    }
    let anchored = has_evidence(page)
        || page.has(SmsWordClass::Wallet)
        || event.class == SmsWordClass::Added
        || !page.vpas.is_empty()
        || counterparty(page, event).is_some();
    (event.weight != SmsEventStrength::Strong && !anchored).then_some(NonPaymentReason::Receipt)
}

/// An account, a reference or a balance: what those who advertise don't have.
fn has_evidence(page: &ParsedSms) -> bool {
    let balance = page.amounts.iter().any(|amount| amount.role == AmountRole::Balance);
    balance || !page.tails.is_empty() || !page.references.is_empty()
}

/// It did not go through. Where the account was debited all the same, or what came back was, that is told.
fn check_failed(
    page: &ParsedSms,
    events: &[SmsEvent],
    event: &SmsEvent,
    doubts: &mut Vec<PaymentDoubt>,
) -> Option<NonPaymentReason> {
    if !has_failed(page) {
        return None;
    }
    // A cheque that came back brings nothing, though it says that it was deposited.
    let fee = page.has_in_sentence(event.at, SmsWordClass::Fee);
    let lost = page.has(SmsWordClass::Cheque) && event.direction == PaymentDirection::Credit && !fee;
    let undone =
        || page.matches_of(SmsWordClass::Failed).any(|mark| page.cut.lowercase(mark.tokens.start) == "not");
    let denied = events.iter().any(|other| other.state == SmsEventState::Undone) || undone();
    let denied = denied && event.class != SmsWordClass::Refunded && !fee;
    if lost || denied {
        return Some(NonPaymentReason::Declined);
    }
    if event.class == SmsWordClass::Refunded {
        return None;
    }
    if event.weight != SmsEventStrength::Strong {
        return Some(NonPaymentReason::Declined);
    }
    if event.direction == PaymentDirection::Debit && !fee {
        doubts.push(PaymentDoubt::Failed);
    }
    None
}

/// Advertisements and swindles that speak as if money had moved.
fn check_lure(page: &ParsedSms, event: &SmsEvent, origin: SmsSenderKind) -> Option<NonPaymentReason> {
    if event.direction == PaymentDirection::Credit && is_baited(page) {
        return Some(NonPaymentReason::Warning);
    }
    if has_evidence(page) {
        return None;
    }
    if page.has(SmsWordClass::Warning) || origin == SmsSenderKind::Person {
        return Some(NonPaymentReason::Warning);
    }
    let linked = page.uses.contains(&SmsTokenUse::Link);
    let promotes = origin == (SmsSenderKind::Business { promotes: true });
    let round = event.amount.is_some_and(|amount| page.amounts[amount].is_round);
    let words =
        page.matches_of(SmsWordClass::Lure).count() + page.matches_of(SmsWordClass::Threshold).count();
    // Nobody who gives money without naming an account needs a click for it.
    let gift = event.direction == PaymentDirection::Credit && linked;
    let lured = words + usize::from(linked) + usize::from(round) + usize::from(promotes) * 2 >= 3;
    let loan =
        if page.has(SmsWordClass::Loan) { NonPaymentReason::Loan } else { NonPaymentReason::Promotion };
    (gift || lured).then_some(loan)
}

/// "To release click": who has given money asks for no step to get it.
fn is_baited(page: &ParsedSms) -> bool {
    let linked = page.uses.contains(&SmsTokenUse::Link);
    let step =
        (0..page.len()).any(|at| matches!(page.cut.lowercase(at), "release" | "claim" | "unlock" | "redeem"));
    linked && step
}

/// It has only begun, is still to come, or is told by a fund instead of the account.
fn check_unfinished(page: &ParsedSms, events: &[SmsEvent], event: &SmsEvent) -> Option<NonPaymentReason> {
    let strong = event.weight == SmsEventStrength::Strong;
    let may_wait = event.direction == PaymentDirection::Credit || !strong;
    if may_wait
        && page.has_in_sentence(event.at, SmsWordClass::Pending)
        && page.cut.lowercase(event.at) != "credited"
    {
        return Some(NonPaymentReason::Pending);
    }
    if event.direction == PaymentDirection::Credit
        && !strong
        && page.has(SmsWordClass::Refund)
        && is_on_its_way(page)
    {
        return Some(NonPaymentReason::Pending);
    }
    let account = (page.has(SmsWordClass::Account) || page.has(SmsWordClass::Card)) && !page.tails.is_empty();
    let acted = event.weight >= SmsEventStrength::Weak && event.class != SmsWordClass::Received;
    if page.has(SmsWordClass::Investment) && !(acted && account) {
        return Some(NonPaymentReason::Investment);
    }
    // "Refund of Rs 500 for the txn debited on 12-03 will be credited": the debit is an old one.
    let to_come = events
        .iter()
        .any(|other| other.state == SmsEventState::Future && other.direction == PaymentDirection::Credit);
    let old =
        event.direction == PaymentDirection::Debit && page.has_in_sentence(event.at, SmsWordClass::Refund);
    // "Sent to your bank. It will be credited in 10 days."
    let begun = event.direction == PaymentDirection::Credit && !strong;
    (to_come && (old || begun)).then_some(NonPaymentReason::Future)
}

/// "It may take 3-5 days to reflect".
fn is_on_its_way(page: &ParsedSms) -> bool {
    (1..page.len()).any(|at| {
        page.cut.lowercase(at) == "reflect"
            && (page.is_class(at - 1, SmsWordClass::To) || page.is_class(at - 1, SmsWordClass::Future))
    })
}

/// "PNR booked, fare charged": whoever was ordered from tells of what the bank tells too.
fn is_merchant_order(page: &ParsedSms, event: &SmsEvent) -> bool {
    event.direction == PaymentDirection::Debit
        && page.has(SmsWordClass::Delivery)
        && !page.has(SmsWordClass::Wallet)
        && !has_evidence(page)
        && page.vpas.is_empty()
}

/// "Payment of Rs 825 for JioFiber a/c 5500112233 is successful": the account is with whoever was paid.
fn is_biller_receipt(page: &ParsedSms, event: &SmsEvent) -> bool {
    let theirs = |tail: usize| {
        page.matches_of(SmsWordClass::Towards).any(|mark| {
            let near = event.at < mark.tokens.start && mark.tokens.end < tail && tail - mark.tokens.end <= 4;
            near && (mark.tokens.end..tail).all(|at| !page.is_class(at, SmsWordClass::From))
                && page.sentence(mark.tokens.start) == page.sentence(tail)
        })
    };
    event.class == SmsWordClass::Pay
        && event.weight == SmsEventStrength::Made
        && !page.has(SmsWordClass::Card)
        && !page.tails.is_empty()
        && page.tails.iter().all(|tail| theirs(tail.tokens.start))
}

/// A noun tells of a payment only where nothing says that it is still to come.
fn disqualify_noun(
    page: &ParsedSms,
    events: &[SmsEvent],
    event: &SmsEvent,
    doubts: &mut Vec<PaymentDoubt>,
) -> Option<NonPaymentReason> {
    let alone = event.weight == SmsEventStrength::Noun;
    let account =
        page.has(SmsWordClass::Card) || page.has(SmsWordClass::Account) || page.has(SmsWordClass::Wallet);
    // "Your card has a reversal of Rs 500": it is there.
    let stated = page.cut.lowercase(event.at.saturating_sub(1)) == "a"
        && page.cut.lowercase(event.at.saturating_sub(2)) == "has";
    let bare = alone && (event.class == SmsWordClass::Refund && !stated || !account || page.tails.is_empty());
    if bare || is_to_come(page, events, event) || (alone && is_offered(page, event)) {
        return Some(reason(page, events));
    }
    let unnamed = event.class == SmsWordClass::Pay && counterparty(page, event).is_none();
    if unnamed && page.tails.is_empty() {
        return Some(NonPaymentReason::Receipt);
    }
    if unnamed && alone && page.has_in_sentence(event.at, SmsWordClass::Lure) {
        return Some(NonPaymentReason::Promotion);
    }
    if unnamed && alone {
        doubts.push(PaymentDoubt::Done);
    }
    None
}

fn is_to_come(page: &ParsedSms, events: &[SmsEvent], event: &SmsEvent) -> bool {
    let alone = event.weight == SmsEventStrength::Noun;
    let beside = |class| page.has_in_sentence(event.at, class);
    let arranged = page.matches_of(SmsWordClass::Arranged).any(|mark| {
        page.sentence(mark.tokens.start) == page.sentence(event.at)
            && !matches!(page.cut.lowercase(mark.tokens.start), "approved" | "authorised" | "authorized")
    });
    let ordered = page.has(SmsWordClass::Mandate)
        && (page.has(SmsWordClass::Arranged) || alone && !is_confirmed_by_balance(page, event));
    let coded = page
        .matches_of(SmsWordClass::Otp)
        .any(|otp| !page.has_in_sentence(otp.tokens.start, SmsWordClass::Share));
    [SmsWordClass::Pending, SmsWordClass::Hold, SmsWordClass::Future].into_iter().any(beside)
        || (alone && beside(SmsWordClass::Due))
        || arranged
        || ordered
        || coded
        || page.has(SmsWordClass::Request)
        || events.iter().any(|event| event.state == SmsEventState::Future)
}

/// "NACH debit of Rs 500 from a/c XX12 … Bal 1,234": the balance behind it says that it went.
fn is_confirmed_by_balance(page: &ParsedSms, event: &SmsEvent) -> bool {
    let left = page
        .amounts
        .iter()
        .any(|amount| amount.role == AmountRole::Balance && amount.tokens.start > event.at);
    event.class == SmsWordClass::Debit && left && !page.tails.is_empty() && !page.has(SmsWordClass::Due)
}

/// "Convert your purchase of Rs 24,999".
fn is_offered(page: &ParsedSms, event: &SmsEvent) -> bool {
    page.matches_of(SmsWordClass::Lure).any(|lure| {
        lure.tokens.start < event.at && page.sentence(lure.tokens.start) == page.sentence(event.at)
    })
}

/// "We have received your payment", "EMI received for your loan": whoever was paid says thanks. On a card it makes the
/// debt less, and is a credit there.
fn is_receipt(page: &ParsedSms, event: &SmsEvent) -> bool {
    if event.class != SmsWordClass::Received || page.has(SmsWordClass::Card) {
        return false;
    }
    let before = |back: usize| event.at.checked_sub(back).map_or("", |at| page.cut.lowercase(at));
    let thanked = (1..=3).any(|back| before(back) == "we");
    let with_thanks =
        page.cut.lowercase(event.end) == "with" && page.cut.lowercase(event.end + 1).starts_with("thank");
    let yours = (event.end..event.end + 3).any(|at| page.is_class(at, SmsWordClass::Own))
        && (event.end..event.end + 4).any(|at| page.is_class(at, SmsWordClass::Pay));
    let from_you = (event.end..page.len())
        .any(|at| page.is_class(at, SmsWordClass::From) && page.cut.lowercase(at + 1) == "you");
    let banked =
        (page.has(SmsWordClass::Account) || page.has(SmsWordClass::Wallet)) && !page.tails.is_empty();
    let begins = event.at == 0
        || page.sentence(event.at - 1) != page.sentence(event.at)
        || page.cut.is_sign(event.at - 1, ':');
    let told_you = (1..=3).any(|back| before(back) == "you");
    let nobody = !told_you && !begins && !page.has(SmsWordClass::Wallet) && payer(page, event).is_none();
    let sentence = page.sentence(event.at);
    // "Received against your electricity a/c": that account is with whoever was paid.
    let against = (event.end..page.len()).take_while(|at| page.sentence(*at) == sentence).any(|at| {
        let led = page.is_class(at, SmsWordClass::Towards) || page.cut.lowercase(at) == "against";
        led && page.is_class(at + 1, SmsWordClass::Own)
    });
    let titled = (0..page.len()).any(|at| page.cut.lowercase(at) == "receipt");
    against
        || page.has_in_sentence(event.at, SmsWordClass::Loan)
        || (titled && !banked)
        || ((thanked || with_thanks || yours || from_you || nobody) && !banked)
}
