// A certified authorization server (npm's oidc-provider) on a loopback port, for tests of connectors' logins: whoever
// comes is let in at once. With --no-codes behind the folder, nobody is let in by a code.
//
//   GET  /count    how often which grant was made: { "authorization_code": 1, … }
//   POST /forget   every token and grant is gone, as when somebody revokes them
//   POST /deny     whoever comes from now on says no
//   POST /break    the line breaks for whoever asks for a token from now on
//   POST /hold     the next answer with a token is made, and kept back until
//   POST /release  lets it go; GET /held says whether one is kept back
import http from "node:http";
import { createRequire } from "node:module";
import { randomUUID } from "node:crypto";
import { pathToFileURL } from "node:url";
import path from "node:path";

const home = process.argv[2];
const entry = createRequire(path.join(home, "package.json")).resolve("oidc-provider");
const { default: Provider } = await import(pathToFileURL(entry).href);

// Standard output is for the address alone.
console.info = console.warn = console.error;

let kept = new Map();
let denies = false;
let breaks = false;
let holds = false;
let held = [];
const count = {};

// What the provider keeps, in memory: clients outlive what was granted to them.
class Memory {
  constructor(name) { this.name = name; }
  key(id) { return `${this.name}:${id}`; }
  async upsert(id, payload) { kept.set(this.key(id), payload); }
  async find(id) { return kept.get(this.key(id)); }
  async findByUid(uid) { return [...kept.values()].find((one) => one.uid === uid && one.kind === this.name); }
  async findByUserCode(code) { return [...kept.values()].find((one) => one.userCode === code); }
  async consume(id) { kept.get(this.key(id)).consumed = Math.floor(Date.now() / 1000); }
  async destroy(id) { kept.delete(this.key(id)); }
  async revokeByGrantId(grant) {
    for (const [key, one] of kept) if (one.grantId === grant) kept.delete(key);
  }
}

const granted = (context) => {
  const { client, provider, session, params } = context.oidc;
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session?.accountId ?? "asha" });
  grant.addOIDCScope("openid offline_access files");
  if (params.resource) grant.addResourceScope(params.resource, "files");
  return grant.save().then(() => grant);
};

function made(issuer) {
  const provider = new Provider(issuer, {
    adapter: Memory,
    clients: [{
      client_id: "service", client_secret: "the service's own", grant_types: [], redirect_uris: [], response_types: [],
    }],
    clientAuthMethods: ["none", "client_secret_basic", "client_secret_post"],
    pkce: { required: () => true },
    scopes: ["openid", "offline_access", "files"],
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    loadExistingGrant: granted,
    rotateRefreshToken: true,
    issueRefreshToken: async (_, client) => client.grantTypeAllowed("refresh_token"),
    cookies: { keys: [randomUUID()] },
    ttl: { AccessToken: 3600, RefreshToken: 86400 },
    interactions: { url: (_, interaction) => `/let-in/${interaction.uid}` },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true },
      introspection: { enabled: true, allowedPolicy: (_, client) => client.clientId === "service" },
      deviceFlow: {
        enabled: !process.argv.includes("--no-codes"),
        userCodeInputSource: (context, form) => { context.body = form; },
        userCodeConfirmSource: (context, form) => { context.body = form; },
        successSource: (context) => { context.body = "let in"; },
      },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, resource) => ({
          scope: "files", audience: resource, accessTokenTTL: 3600, accessTokenFormat: "opaque",
        }),
      },
    },
  });
  provider.on("grant.success", (context) => {
    const kind = context.oidc.params.grant_type;
    count[kind] = (count[kind] ?? 0) + 1;
  });
  provider.on("server_error", (_, error) => console.error(error));
  return provider;
}

let provider;
const server = http.createServer(async (request, response) => {
  if (request.url === "/count") {
    response.end(JSON.stringify(count));
  } else if (request.url === "/forget") {
    kept = new Map([...kept].filter(([key]) => key.startsWith("Client:")));
    response.end("forgotten");
  } else if (request.url === "/break") {
    breaks = true;
    response.end("from now on");
  } else if (request.url === "/token" && breaks) {
    request.socket.destroy();
  } else if (request.url === "/hold") {
    holds = true;
    response.end("the next");
  } else if (request.url === "/held") {
    response.end(String(held.length));
  } else if (request.url === "/release") {
    held.splice(0).forEach((release) => release());
    response.end("gone");
  } else if (request.url === "/deny") {
    denies = true;
    response.end("from now on");
  } else if (request.url.startsWith("/let-in/")) {
    const said = denies ? { error: "access_denied" } : { login: { accountId: "asha" }, consent: {} };
    await provider.interactionFinished(request, response, said);
  } else {
    if (request.url === "/token" && holds) {
      holds = false;
      const end = response.end.bind(response);
      response.end = (...all) => { held.push(() => end(...all)); return response; };
    }
    if (request.url === "/token/revocation") {
      response.on("finish", () => {
        if (response.statusCode === 200) count.revoked = (count.revoked ?? 0) + 1;
      });
    }
    provider.callback()(request, response);
  }
});
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  provider = made(issuer);
  console.log(issuer);
});
