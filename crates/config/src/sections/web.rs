use crate::kinds::{CountKind, IpAddressListKind};
use crate::section::section;

section! {
    /// Conversations on web pages, our own and those that have the widget.
    WebSection in "web" {
        /// How many messages of somebody who has proved nothing are free. For each one after, their browser does a little
        /// work first, so that nobody sends them by the thousand.
        challenge_after: CountKind<0, 1000> = 3,
        /// How much work that is: each one more doubles it, and 0 asks for none. 16 takes a phone less than a second.
        challenge_bits: CountKind<0, 24> = 16,
        /// Proxies in front of Munshi, by their address; also one on this machine (`127.0.0.1`). What they say in
        /// `x-forwarded-for` is believed, so that people are counted one by one. All who come through another count as one.
        proxies: IpAddressListKind = [],
    }
}
