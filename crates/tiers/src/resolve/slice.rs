//! Which of a hundred parts of the people somebody belongs to.

use munshi_types::{BindingId, Id};

/// The person's part at a binding, 0 to 99: the same on every node, after every restart and in every version of the
/// program. Two bindings divide their people differently, so that one's trial says nothing of the other's.
pub fn assign_bucket(binding: BindingId, person: &str) -> u8 {
    let uuid = binding.as_uuid();
    let bytes = uuid.as_bytes().iter().chain(person.as_bytes());
    // FNV-1a, whose last bytes hardly reach the high bits, so it is stirred once more at the end.
    let mut hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    ((hash ^ (hash >> 33)) % 100) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn binding(number: u128) -> BindingId {
        BindingId::from_uuid(Uuid::from_u128(number))
    }

    #[test]
    fn a_person_stays_where_it_is_for_ever() {
        let parts: Vec<u8> = ["+919812345678", "+919812345679", "asha@example.com", ""]
            .map(|person| assign_bucket(binding(7), person))
            .into();
        assert_eq!(parts, [57, 65, 9, 96], "changing this moves people between the arms of running trials");
    }

    #[test]
    fn every_part_is_as_large_as_the_others() {
        let mut counts = [0_u32; 100];
        for number in 0..100_000 {
            counts[usize::from(assign_bucket(binding(7), &format!("+9198{number:08}")))] += 1;
        }
        assert!(counts.iter().all(|count| (850..1_150).contains(count)), "{counts:?}");
    }

    #[test]
    fn two_bindings_divide_their_people_differently() {
        let people: Vec<String> = (0..1_000).map(|number| number.to_string()).collect();
        let same = people
            .iter()
            .filter(|person| assign_bucket(binding(1), person) == assign_bucket(binding(2), person))
            .count();
        assert!(same < 40, "{same}");
    }
}
