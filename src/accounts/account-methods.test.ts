import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { addAccount } from "../../test/fixtures/auth-fixture.ts";
import { openTestAccounts } from "../../test/fixtures/open-test-accounts.ts";
import type { Database } from "../database/database.ts";
import {
  AccountSchema,
  type Accounts,
  GetAccountRequestSchema,
  UpdateAccountRequestSchema,
} from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { refusal } from "../../test/fixtures/refusal.ts";
import { callBy, testCaller } from "../../test/fixtures/test-caller.ts";

let database: Database;
let accounts: ServiceImpl<typeof Accounts>;
before(async () => {
  ({ database, accounts } = await openTestAccounts());
});
after(() => database[Symbol.asyncDispose]());

const contextOf = (accountId: string) => callBy(testCaller(accountId, ["account"]));

const get = async (id: string) =>
  create(AccountSchema, await accounts.getAccount(create(GetAccountRequestSchema), contextOf(id)));
const update = async (
  id: string,
  account: MessageInitShape<typeof AccountSchema>,
  ...paths: string[]
) => {
  const request = create(UpdateAccountRequestSchema, { account, updateMask: { paths } });
  return create(AccountSchema, await accounts.updateAccount(request, contextOf(id)));
};

test("an account keeps everything by default", async () => {
  const id = await addAccount(database.db);
  const account = await get(id);
  assert.equal(account.name, `accounts/${id}`);
  assert.deepEqual([account.mediaRetentionDays, account.transcriptRetentionDays], [0, 0]);
});

test("updateAccount() changes only the caller's account, and only the fields in the mask, or without a mask the fields that are set", async () => {
  const [id, other] = [await addAccount(database.db), await addAccount(database.db)];
  const before = await get(other);
  const all = {
    displayName: "Þjóðskjalasafn",
    mediaRetentionDays: 30,
    transcriptRetentionDays: 365,
  };
  const pick = ({ displayName, mediaRetentionDays, transcriptRetentionDays }: typeof all) => ({
    displayName,
    mediaRetentionDays,
    transcriptRetentionDays,
  });
  assert.deepEqual(pick(await update(id, all)), all);
  assert.deepEqual(pick(await get(id)), all);
  assert.deepEqual(
    pick(await update(id, { ...all, displayName: "x" }, "media_retention_days")),
    all,
  );
  assert.deepEqual(
    pick(await update(id, { mediaRetentionDays: 0 }, "mediaRetentionDays", "name")),
    { ...all, mediaRetentionDays: 0 },
  );
  assert.deepEqual(
    pick(
      await update(
        id,
        { displayName: "", transcriptRetentionDays: 36_500 },
        "display_name",
        "transcript_retention_days",
      ),
    ),
    {
      displayName: "",
      mediaRetentionDays: 0,
      transcriptRetentionDays: 36_500,
    },
  );
  assert.deepEqual(await get(other), before);
});

test("updateAccount() reports all violations together, and changes nothing", async () => {
  const id = await addAccount(database.db);
  const before = await get(id);
  const rows: [
    account: MessageInitShape<typeof AccountSchema>,
    paths: string[],
    fields: string[],
  ][] = [
    [{}, [], ["account"]],
    [{ name: "accounts/x" }, ["name"], ["account"]],
    [{ displayName: "x".repeat(201) }, [], ["displayName"]],
    [{ displayName: "a\nb", mediaRetentionDays: -1 }, [], ["displayName", "mediaRetentionDays"]],
    [
      { mediaRetentionDays: 36_501, transcriptRetentionDays: -5 },
      [],
      ["mediaRetentionDays", "transcriptRetentionDays"],
    ],
    [{ displayName: "good", transcriptRetentionDays: 40_000 }, [], ["transcriptRetentionDays"]],
    [
      { displayName: "good" },
      ["displayName", "secret", "account.name"],
      ["updateMask", "updateMask"],
    ],
  ];
  for (const [account, paths, fields] of rows) {
    await assert.rejects(
      update(id, account, ...paths),
      (error: { violations?: { field: string }[] }) => {
        assert.deepEqual(
          error.violations?.map(({ field }) => field),
          fields,
        );
        return true;
      },
    );
  }
  assert.deepEqual(await get(id), before);
});

test("updateAccount() refuses paths of a mask below a field that name nothing, and lists what is there", async () => {
  const id = await addAccount(database.db);
  const known = "languageCode, model, diarizationConfig, phrases, wordsAsSpoken";
  const notIts = `is not a field of RecordingDefaults, which has ${known}`;
  const speakers = "enableSpeakerDiarization, minSpeakerCount, maxSpeakerCount";
  const rows: [path: string, description: string][] = [
    ["recordingDefaults.language", `"recordingDefaults.language" ${notIts}`],
    ["recording_defaults.", `"recording_defaults." ${notIts}`],
    ["recording_Defaults.model", '"recording_Defaults.model" is not a field of an account'],
    [
      "recordingDefaults.phrases.0",
      '"recordingDefaults.phrases.0" names a part of phrases, which has no fields',
    ],
    [
      "recordingDefaults.diarizationConfig.speakers",
      `"recordingDefaults.diarizationConfig.speakers" is not a field of SpeakerDiarizationConfig, which has ${speakers}`,
    ],
    ["displayName.x", '"displayName.x" is not a field of an account'],
  ];
  const account = { recordingDefaults: { languageCode: "is-IS" } };
  const before = await get(id);
  for (const [path, description] of rows) {
    const { violations } = await refusal(update(id, account, path));
    assert.deepEqual(violations, [{ field: "updateMask", description }]);
  }
  assert.deepEqual(await get(id), before);
  const nested = "recording_defaults.diarization_config.max_speaker_count";
  for (const path of ["recordingDefaults.languageCode", nested]) {
    const { recordingDefaults } = await update(id, account, path);
    assert.equal(recordingDefaults?.languageCode, "is-IS", path);
  }
});

test("updateAccount() uses only one connection, so one call per connection can run concurrently", async () => {
  const id = await addAccount(database.db);
  const days = Array.from({ length: 2 * database.pool.options.max }, (_, index) => index + 1);
  const answers = await Promise.all(
    days.map(async (mediaRetentionDays) => await update(id, { mediaRetentionDays })),
  );
  assert.deepEqual(
    answers.map(({ mediaRetentionDays }) => mediaRetentionDays),
    days,
  );
});
