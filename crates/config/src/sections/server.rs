use crate::kinds::{CountKind, EndpointKind, FlagKind, KibibytesKind, SecondsKind, SocketAddressKind};
use crate::section::section;

section! {
    /// The HTTP server.
    ServerSection in "server" {
        /// The address and port to listen on. 127.0.0.1 serves this machine only; 0.0.0.0 serves the network.
        listen: SocketAddressKind = "127.0.0.1:8400",
        /// Public base URL, such as `https://munshi.example`, for links sent to people. With https, cookies are marked
        /// Secure. Empty means the listen address.
        public_url: EndpointKind = "",
        /// Timeout of a request.
        request_timeout ("request_timeout_seconds"): SecondsKind<1, 3600> = 30,
        /// Maximum size of a request body.
        body_limit ("body_limit_kib"): KibibytesKind<1, 1_048_576> = 1024,
        /// Rate limit per API key: requests per minute and node.
        key_requests_per_minute: CountKind<1, 10_000_000> = 600,
        /// Rate limit per client address: requests per minute without a valid key, plus visitors' messages; ten times
        /// as many per day. Raise it where many people share an address.
        address_requests_per_minute: CountKind<1, 10_000_000> = 20,
        /// Maximum open connections; further ones wait. Each open page holds one for its stream, and each takes a file
        /// descriptor.
        max_connections: CountKind<16, 1_000_000> = 20_000,
        /// Maximum open connections per client address; further ones are closed at once. Each open page holds one, and a
        /// mobile operator puts thousands of phones behind one address. This machine and the proxies in `web.proxies` are
        /// exempt.
        connections_per_address: CountKind<1, 100_000> = 4096,
        /// Whether anyone who reaches the port may read /metrics and the details of /readyz. Otherwise only programs on
        /// this machine and a signed-in keeper may.
        public_metrics: FlagKind = false,
        /// Grace period on shutdown for requests and jobs in flight.
        shutdown_grace ("shutdown_grace_seconds"): SecondsKind<0, 3600> = 20,
    }
}
