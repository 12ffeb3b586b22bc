import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { ConfigError, readConfig } from "./config.ts";

test("readConfig() returns the defaults if nothing is set", () => {
  const config = readConfig({ PATH: "/bin" });
  assert.equal(config.port, 8080);
  assert.equal(config.host, "127.0.0.1");
  assert.equal(config.dataFolder, resolve("data"));
  assert.equal(config.modelsFolder, resolve("data/models"));
  assert.equal(config.catalogueFile, undefined);
  assert.equal(config.publicUrl, undefined);
  assert.equal(config.database.url, undefined);
  assert.equal(config.database.statementMsMax, 30_000);
  assert.equal(config.role, "all");
  assert.ok(config.engineProcesses >= 1);
  assert.equal(config.engine, "auto");
  assert.equal(config.voiceActivity, "network");
  assert.equal(config.liveEffort, "auto");
  assert.deepEqual(config.allowMediaFrom, []);
  assert.deepEqual(config.allowWebhooksTo, []);
  assert.deepEqual(config.callers, {
    trustedProxies: [],
    allowedOrigins: [],
    connectionsMax: undefined,
    connectionsPerAddress: 1000,
    refusedPerMinute: 60,
    contact: undefined,
  });
  assert.equal(config.wyoming, undefined);
  assert.equal(config.tls, undefined);
  assert.equal(config.httpRulesFile, undefined);
  assert.equal(config.removedMediaDays, 30);
  assert.deepEqual(config.drain, { delayMs: 0, msMax: 30_000 });
  assert.equal(config.sandbox, "auto");
  assert.equal(config.logLevel, "info");
  assert.equal(config.recordingSecondsMax, 8 * 3600);
  assert.equal(config.s3, undefined);
  assert.deepEqual(readConfig({ HLUST_PORT: "" }), config, "an empty setting is an unset one");
});

test("readConfig() reads every setting", () => {
  const config = readConfig({
    HLUST_PORT: "0",
    HLUST_HOST: "::1",
    HLUST_DATA: "/srv/hlust",
    HLUST_PUBLIC_URL: "https://hlust.example/",
    DATABASE_URL: "postgres://hlust:secret@db/hlust",
    HLUST_ROLE: "worker",
    HLUST_ENGINE_PROCESSES: "3",
    HLUST_ENGINE: "scripted",
    HLUST_VOICE_ACTIVITY: "energy",
    HLUST_ONNX_PROVIDERS: "cuda,cpu",
    HLUST_BATCH_STREAMS: "64",
    HLUST_BATCH_WAIT: "8",
    HLUST_LIVE_EFFORT: "full",
    HLUST_DEFAULT_LANGUAGE: "is-IS",
    HLUST_CALL_BYTES_MAX: "1000000",
    MODEL_KEY_RIVA: "a-key",
    HLUST_MODELS: "/srv/models",
    HLUST_MODEL_CHOICE: "is-IS:live=small, is-IS=large.2,en-US=parakeet",
    HLUST_CATALOGUE: "/etc/hlust/catalogue.json",
    HLUST_ALLOW_MEDIA_FROM: "10.0.0.0/8, media.example ,",
    HLUST_ALLOW_WEBHOOKS_TO: "hooks.example",
    HLUST_SANDBOX: "reduced",
    HLUST_LOG: "debug",
    HLUST_KEEP_MEDIA: "false",
    HLUST_UPLOAD_BYTES_MAX: "1000",
    HLUST_RECORDING_SECONDS_MAX: "3600",
    HLUST_STREAM_SECONDS_MAX: "60",
    HLUST_METRICS_LISTEN: "[::1]:9464",
    HLUST_METRICS_TOKEN: "a-token-of-20-letters",
    HLUST_DRAIN_DELAY: "10",
    HLUST_DRAIN: "2h",
    HLUST_ACCOUNT_REQUESTS_PER_MINUTE: "100",
    HLUST_ACCOUNT_STREAMS: "0",
    HLUST_ACCOUNT_JOBS_MAX: "500",
    HLUST_ACCOUNT_AUDIO_SECONDS_PER_DAY: "3600",
    HLUST_ACCOUNT_STORED_BYTES: "1000000000000",
    DATABASE_CONNECTIONS_MAX: "8",
    DATABASE_WAIT_SECONDS: "10",
    DATABASE_STATEMENT_SECONDS: "60",
    HLUST_TRUSTED_PROXIES: "10.0.0.0/8, ::1",
    HLUST_ALLOWED_ORIGINS: "https://APP.example:443/, http://localhost:3000",
    HLUST_CONNECTIONS_MAX: "5000",
    HLUST_CONNECTIONS_PER_ADDRESS: "50",
    HLUST_REFUSED_PER_MINUTE: "10",
    HLUST_CONTACT: "anna+hlust@hlust.example",
    HLUST_MEMORY_MB: "4096",
    HLUST_HTTP_RULES: "/etc/hlust/rules.yaml",
    HLUST_REMOVED_MEDIA_DAYS: "7",
    HLUST_BIN_DAYS: "0",
    HLUST_AUDIT_DAYS: "730",
    S3_BUCKET: "media",
    S3_ENDPOINT: "http://minio:9000/",
    S3_PUBLIC_ENDPOINT: "https://media.example",
    S3_REGION: "eu-north-1",
    S3_ACCESS_KEY_ID: "id",
    S3_SECRET_ACCESS_KEY: "secret",
    S3_PREFIX: "hlust/test",
    HLUST_S3_PRESIGN: "false",
    HLUST_OIDC_ISSUER: "https://login.example/realms/a/",
    HLUST_OIDC_CLIENT_ID: "hlust",
    HLUST_OIDC_CLIENT_SECRET: "secret",
    HLUST_TLS_CERTIFICATE: "/etc/hlust/tls.pem",
    HLUST_TLS_KEY: "/etc/hlust/tls.key",
    HLUST_WYOMING_LISTEN: "[::]:10300",
    HLUST_WYOMING_KEY_FILE: "/etc/hlust/home-key",
    HLUST_WYOMING_ALLOW_FROM: "192.168.1.0/24, fd00::/8",
    HLUST_WYOMING_ANNOUNCE: "true",
  });
  assert.deepEqual(config, {
    port: 0,
    host: "::1",
    dataFolder: "/srv/hlust",
    publicUrl: "https://hlust.example",
    database: {
      url: "postgres://hlust:secret@db/hlust",
      connectionsMax: 8,
      waitMsMax: 10_000,
      statementMsMax: 60_000,
    },
    role: "worker",
    engines: { listen: undefined, nodes: undefined, hasOwnModels: true },
    mail: { isSent: false, sending: undefined, perDayMax: 100 },
    engineProcesses: 3,
    frontProcesses: 1,
    engine: "scripted",
    voiceActivity: "energy",
    onnx: { providers: ["cuda", "cpu"], batchStreams: 64, batchWaitMs: 8 },
    liveEffort: "full",
    defaultLanguage: "is-IS",
    callBytesMax: 1_000_000,
    modelKeys: { MODEL_KEY_RIVA: "a-key" },
    modelsFolder: "/srv/models",
    modelChoice: [
      { languageCode: "is-IS", use: "live", model: "small" },
      { languageCode: "is-IS", use: undefined, model: "large.2" },
      { languageCode: "en-US", use: undefined, model: "parakeet" },
    ],
    catalogueFile: "/etc/hlust/catalogue.json",
    allowMediaFrom: ["10.0.0.0/8", "media.example"],
    allowWebhooksTo: ["hooks.example"],
    sandbox: "reduced",
    logLevel: "debug",
    log: { format: undefined, sample: 1, isAccessLogged: false, accessSample: 1 },
    keepMedia: false,
    uploadBytesMax: 1000,
    recordingSecondsMax: 3600,
    streamSecondsMax: 60,
    tracing: undefined,
    drain: { delayMs: 10_000, msMax: 7_200_000 },
    accountLimits: {
      requestsPerMinute: 100,
      concurrentStreams: 0,
      queuedJobs: 500,
      audioSecondsPerDay: 3600,
      storedBytes: 1e12,
    },
    httpRulesFile: "/etc/hlust/rules.yaml",
    removedMediaDays: 7,
    binDays: 0,
    auditDays: 730,
    s3: {
      bucket: "media",
      endpoint: "http://minio:9000",
      publicEndpoint: "https://media.example",
      region: "eu-north-1",
      key: { id: "id", secret: "secret" },
      prefix: "hlust/test/",
      presigns: false,
    },
    backupS3: config.backupS3,
    openId: {
      issuer: "https://login.example/realms/a/",
      clientId: "hlust",
      clientSecret: "secret",
    },
    callers: {
      trustedProxies: ["10.0.0.0/8", "::1"],
      allowedOrigins: ["https://app.example", "http://localhost:3000"],
      connectionsMax: 5000,
      connectionsPerAddress: 50,
      refusedPerMinute: 10,
      contact: "anna+hlust@hlust.example",
    },
    tls: {
      certificate: { setting: "HLUST_TLS_CERTIFICATE", path: "/etc/hlust/tls.pem" },
      key: { setting: "HLUST_TLS_KEY", path: "/etc/hlust/tls.key" },
    },
    wyoming: {
      host: "::",
      port: 10_300,
      keyFile: "/etc/hlust/home-key",
      allowFrom: ["192.168.1.0/24", "fd00::/8"],
      isAnnounced: true,
    },
    metrics: { listen: { host: "::1", port: 9464 }, token: "a-token-of-20-letters" },
    memoryMb: 4096,
  });
  assert.deepEqual(readConfig({ S3_BUCKET: "media" }).s3, {
    bucket: "media",
    endpoint: undefined,
    publicEndpoint: undefined,
    region: "us-east-1",
    key: undefined,
    prefix: "",
    presigns: true,
  });
});

test("readConfig() throws an error that names every invalid setting", () => {
  const rows: [name: string, value: string, problem: RegExp][] = [
    ["HLUST_PORT", "65536", /HLUST_PORT must be a whole number from 0 to 65535, not "65536"/],
    ["HLUST_PORT", "http", /HLUST_PORT/],
    [
      "HLUST_TRUSTED_PROXIES",
      "10.0.0.0/33",
      /HLUST_TRUSTED_PROXIES: "10.0.0.0\/33" is not a network/,
    ],
    ["HLUST_TRUSTED_PROXIES", "proxy.example", /HLUST_TRUSTED_PROXIES/],
    [
      "HLUST_ALLOWED_ORIGINS",
      "https://app.example/page",
      /HLUST_ALLOWED_ORIGINS: .* is not an origin/,
    ],
    ["HLUST_ALLOWED_ORIGINS", "app.example", /HLUST_ALLOWED_ORIGINS: .* is not an origin/],
    [
      "HLUST_ALLOWED_ORIGINS",
      "https://me@app.example",
      /HLUST_ALLOWED_ORIGINS: .* is not an origin/,
    ],
    ["HLUST_ALLOWED_ORIGINS", "null", /HLUST_ALLOWED_ORIGINS: .* is not an origin/],
    ["HLUST_CONNECTIONS_MAX", "0", /HLUST_CONNECTIONS_MAX/],
    ["HLUST_CONNECTIONS_PER_ADDRESS", "0", /HLUST_CONNECTIONS_PER_ADDRESS/],
    ["HLUST_REFUSED_PER_MINUTE", "0", /HLUST_REFUSED_PER_MINUTE/],
    [
      "HLUST_CONTACT",
      "anna",
      /HLUST_CONTACT must be an e-mail address .*, or a URL .*, not "anna"/,
    ],
    ["HLUST_CONTACT", "a@b.example?subject=x", /HLUST_CONTACT/],
    ["HLUST_CONTACT", "a@b.example, c@d.example", /HLUST_CONTACT/],
    ["HLUST_CONTACT", "javascript:alert(1)", /HLUST_CONTACT/],
    ["HLUST_CONTACT", "https://", /HLUST_CONTACT/],
    ["HLUST_CONTACT", `a@${"b".repeat(250)}.example`, /at most 254 characters/],
    ["HLUST_PUBLIC_URL", "hlust.example", /HLUST_PUBLIC_URL must be a URL .*, not "hlust.example"/],
    ["HLUST_PUBLIC_URL", "https://a/?b", /HLUST_PUBLIC_URL/],
    ["DATABASE_URL", "mysql://secret@db", /^DATABASE_URL must begin with postgres:\/\/$/],
    ["S3_ENDPOINT", "minio:9000", /S3_ENDPOINT must be a URL .*, not "minio:9000"/],
    ["S3_ENDPOINT", "http://minio", /^S3_ENDPOINT is set, but S3_BUCKET is not$/],
    [
      "S3_SECRET_ACCESS_KEY",
      "s",
      /^S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set together$/,
    ],
    [
      "HLUST_OIDC_ISSUER",
      "login.example",
      /HLUST_OIDC_ISSUER must be a URL .*, not "login.example"/,
    ],
    ["HLUST_OIDC_ISSUER", "http://login.example", /HLUST_OIDC_ISSUER must be a URL with https:/],
    [
      "HLUST_OIDC_CLIENT_ID",
      "a",
      /^HLUST_OIDC_ISSUER and HLUST_OIDC_CLIENT_ID must be set together$/,
    ],
    ["HLUST_OIDC_CLIENT_SECRET", "a", /^HLUST_OIDC_CLIENT_SECRET is set, but HLUST_OIDC_ISSUER is/],
    [
      "HLUST_TLS_CERTIFICATE",
      "tls.pem",
      /^HLUST_TLS_CERTIFICATE and HLUST_TLS_KEY must be set together$/,
    ],
    ["S3_PREFIX", "a b", /S3_PREFIX must be a path such as hlust\/, not "a b"/],
    ["HLUST_S3_PRESIGN", "yes", /HLUST_S3_PRESIGN must be one of true, false, not "yes"/],
    ["DATABASE_STATEMENT_SECONDS", "4", /^DATABASE_STATEMENT_SECONDS must be .* from 5 to 600/],
    ["HLUST_ENGINE_PROCESSES", "0", /HLUST_ENGINE_PROCESSES/],
    ["HLUST_FRONT_PROCESSES", "0", /HLUST_FRONT_PROCESSES/],
    ["HLUST_ENGINE", "magic", /HLUST_ENGINE/],
    ["HLUST_LIVE_EFFORT", "much", /HLUST_LIVE_EFFORT must be one of auto, quick, full/],
    ["HLUST_ONNX_PROVIDERS", "metal", /HLUST_ONNX_PROVIDERS must be one of cpu, cuda, webgpu/],
    ["HLUST_BATCH_STREAMS", "0", /HLUST_BATCH_STREAMS must be .*1 to 256/],
    ["HLUST_BATCH_WAIT", "101", /HLUST_BATCH_WAIT must be .*0 to 100/],
    ["HLUST_VOICE_ACTIVITY", "ears", /HLUST_VOICE_ACTIVITY must be one of energy, network/],
    ["HLUST_SANDBOX", "none", /HLUST_SANDBOX/],
    ["HLUST_LOG", "loud", /HLUST_LOG/],
    ["HLUST_KEEP_MEDIA", "yes", /HLUST_KEEP_MEDIA/],
    ["HLUST_RECORDING_SECONDS_MAX", "86401", /HLUST_RECORDING_SECONDS_MAX.*86400/],
    ["HLUST_DRAIN", "soon", /^HLUST_DRAIN must be a time from 0 to 24h, such as .*, not "soon"$/],
    ["HLUST_DRAIN", "-1", /^HLUST_DRAIN must be a time/],
    ["HLUST_DRAIN", "25h", /^HLUST_DRAIN must be a time from 0 to 24h, .*, not "25h"$/],
    ["HLUST_DRAIN_DELAY", "601", /^HLUST_DRAIN_DELAY must be a time from 0 to 10m, .*, not "601"$/],
    ["HLUST_DRAIN_SECONDS", "9", /^HLUST_DRAIN_SECONDS is .*: it is called HLUST_DRAIN_DELAY now$/],
    ["HLUST_PROT", "1", /HLUST_PROT is not a setting/],
    ["HLUST_DATA_DIR", "/x", /HLUST_DATA_DIR is not a setting: did you mean HLUST_DATA\?/],
    ["HLUST_REMOVED_MEDIA_DAYS", "0", /HLUST_REMOVED_MEDIA_DAYS/],
    [
      "DATABASE_URI",
      "postgres://a:secret@b/c",
      /^DATABASE_URI is not a .*: was DATABASE_URL meant\?$/,
    ],
    ["DATABSE_URL", "x", /was DATABASE_URL meant/],
    ["DATABASEURL", "x", /was DATABASE_URL meant/],
    ["database_url", "x", /was DATABASE_URL meant/],
    ["S3_BUKCET", "x", /was S3_BUCKET meant/],
    ["S3_BUCKETS", "x", /was S3_BUCKET meant/],
    ["S3_ENPOINT", "x", /was S3_ENDPOINT meant/],
    ["S3_PERFIX", "x", /was S3_PREFIX meant/],
    ["S3_ACESS_KEYID", "x", /was S3_ACCESS_KEY_ID meant/],
    ["S3_SECRET_ACCES_KEY", "x", /was S3_SECRET_ACCESS_KEY meant/],
    ["HLSUT_DATA", "x", /was HLUST_DATA meant/],
    ["HLUSTDATA", "x", /was HLUST_DATA meant/],
    ["hlust_port", "x", /was HLUST_PORT meant/],
  ];
  for (const [name, value, problem] of rows) {
    assert.throws(
      () => readConfig({ [name]: value }),
      (error) => error instanceof ConfigError && problem.test(error.message),
      `${name}=${value}`,
    );
  }
  assert.throws(() => readConfig({ HLUST_PORT: "x", HLUST_ROLE: "y", HLUST_Z: "" }), {
    message: /HLUST_Z(.|\n)*HLUST_PORT(.|\n)*HLUST_ROLE/,
  });
});
