import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { chooseSandbox } from "./audio/sandbox.ts";
import { createAccountsService } from "./accounts/accounts-service.ts";
import { ensureFirstAccount } from "./accounts/first-account.ts";
import { createAuthenticator } from "./auth/authenticate.ts";
import type { Config } from "./config.ts";
import { databaseTrouble, openDatabase } from "./database/database.ts";
import { signingKey } from "./database/signing-key.ts";
import { openEnginePool } from "./engines/engine-pool.ts";
import { Accounts } from "./gen/hlust/accounts/v1/accounts_pb.ts";
import { Speech } from "./gen/hlust/speech/v2beta1/speech_pb.ts";
import { Transcripts } from "./gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { openDiskStore } from "./media/disk-store.ts";
import { implemented } from "./server/methods.ts";
import { openServer } from "./server/server.ts";
import { createSpeechService } from "./speech/speech-service.ts";
import type { Log } from "./std/log.ts";

export interface App extends AsyncDisposable {
  /** http://<host>:<port> */
  readonly address: string;
  /** The first API key, when this start has made it. */
  readonly firstKey: { readonly secret: string; readonly file: string } | undefined;
}
