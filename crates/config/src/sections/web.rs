use crate::kinds::{CountKind, IpAddressListKind};
use crate::section::section;

section! {
    /// Web chat, on Munshi's own pages and in the widget.
    WebSection in "web" {
        /// Messages an unverified visitor may send before each further one needs a proof of work by the browser. This
        /// prevents bulk sending.
        challenge_after: CountKind<0, 1000> = 3,
        /// Difficulty of that proof of work: each step doubles it, 0 disables it. 16 takes a phone less than a second.
        challenge_bits: CountKind<0, 24> = 16,
        /// Addresses of reverse proxies in front of Munshi, including one on this machine (`127.0.0.1`). Their
        /// `x-forwarded-for` is trusted, so that each client is counted by itself. Clients behind any other proxy count
        /// as one.
        proxies: IpAddressListKind = [],
    }
}
