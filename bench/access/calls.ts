// The server's CPU time for a whole REST call whose key is checked, and for the same call without
// any check. The caller runs in another process, so its CPU time is not counted.
import type { Authenticator } from "../../src/auth/authenticate.ts";
import { createAuthenticator } from "../../src/auth/authenticate.ts";
import { createRefusedAttempts } from "../../src/auth/refused-attempts.ts";
import { createLog } from "../../src/std/log.ts";
import { addAccount, addApiKey } from "../../test/fixtures/auth-fixture.ts";
import { cpuMs } from "../../test/fixtures/cpu-time.ts";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import { testCaller, unwatched } from "../../test/fixtures/test-caller.ts";
import { openCaller, openMeasuredServer, requestText } from "../transcoding/calls.ts";
import type { Figure } from "./figure.ts";

const rounds = 15;
const callsARound = 2_000;

/** Measures the CPU time in us that an API key adds to a small call. */
export async function measureCalls(): Promise<Figure[]> {
  await using database = await openTestDatabase();
  const { db } = database;
  const { token } = await addApiKey(db, await addAccount(db), ["transcripts.read"]);
  const caller = testCaller("a", []);
  const anyCaller: Authenticator = { authenticate: () => Promise.resolve(caller), ...unwatched };
  const checking = createAuthenticator({
    db,
    publicUrl: () => "",
    attempts: createRefusedAttempts(() => 60),
    log: createLog("error"),
  });
  await using open = await openMeasuredServer(anyCaller);
  await using checked = await openMeasuredServer(checking);
  using toOpen = openCaller(new URL(open.address).port);
  using toChecked = openCaller(new URL(checked.address).port);
  const path = "/v1alpha1/transcriptjob/01998f2e-7c1a-7c35-9d54-2f8f6a4b1e0d";
  const request = requestText("GET", path, { token });
  const best = [Infinity, Infinity];
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, to] of [toOpen, toChecked].entries()) {
      const began = cpuMs();
      await to.call(request, callsARound);
      best[index] = Math.min(best[index] ?? Infinity, ((cpuMs() - began) * 1000) / callsARound);
    }
  }
  const [without = NaN, withKey = NaN] = best;
  const note = `${withKey.toFixed(0)} us with it, ${without.toFixed(0)} us without`;
  return [
    { name: "API key, in a whole REST call", value: withKey - without, max: 30, unit: "us", note },
  ];
}
