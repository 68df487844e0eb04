use crate::kinds::{CountKind, EndpointKind, FlagKind, KibibytesKind, SecondsKind, SocketAddressKind};
use crate::section::section;

section! {
    /// How Munshi answers over HTTP.
    ServerSection in "server" {
        /// The address and port to listen on. 127.0.0.1 serves this machine only; 0.0.0.0 serves the network.
        listen: SocketAddressKind = "127.0.0.1:8400",
        /// The address people open in a browser, such as `https://munshi.example`, for links that are sent to them. With
        /// https, cookies are for TLS alone. Empty means the address it listens on.
        public_url: EndpointKind = "",
        /// How long a request may take before it is answered with a timeout.
        request_timeout ("request_timeout_seconds"): SecondsKind<1, 3600> = 30,
        /// The largest request body that is read.
        body_limit ("body_limit_kib"): KibibytesKind<1, 1_048_576> = 1024,
        /// How many requests one API key may send in a minute, to each node.
        key_requests_per_minute: CountKind<1, 10_000_000> = 600,
        /// How many requests without a good key, and messages of visitors, one address may send in a minute; ten times as
        /// many in a day. Raise it where many people share an address.
        address_requests_per_minute: CountKind<1, 10_000_000> = 20,
        /// How many connections one address may hold open; more are closed at once. This machine and the proxies that
        /// `web.proxies` names are not counted.
        connections_per_address: CountKind<1, 100_000> = 256,
        /// Whether everybody who reaches the port may read /metrics and the details of /readyz. Otherwise programs on this
        /// machine may, and a keeper who is signed in.
        public_metrics: FlagKind = false,
        /// On shutdown, how long requests and jobs in flight may take to finish.
        shutdown_grace ("shutdown_grace_seconds"): SecondsKind<0, 3600> = 20,
    }
}
