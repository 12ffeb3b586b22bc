import { listMembers, type StoredMember } from "../../accounts/member-store.ts";
import { type Role, roles } from "../../auth/caller.ts";
import { foldEmail } from "../../auth/email.ts";
import {
  addMember,
  removeMember,
  setOperator as makeOperator,
  setRole as giveRole,
} from "../../operator/members.ts";
import { UsageError } from "../command.ts";
import { columns } from "../models/columns.ts";
import { nearestNames } from "../nearest-names.ts";
import { checkedName } from "../operator/checked-name.ts";
import { jsonOption, writeJson } from "../operator/json-option.ts";
import { oneAccount } from "../operator/one-account.ts";
import { oneMember } from "../operator/one-member.ts";
import { takePositionals } from "../operator/take-positionals.ts";
import { withDatabase } from "../operator/with-database.ts";
import { Arguments } from "../options.ts";

/** Runs `hlust accounts members ID`. */
export async function list(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<void> {
  const read = new Arguments(jsonOption, args);
  const [given] = takePositionals(read.positionals, ["ID"]);
  const members = await withDatabase(environment, async (db) => {
    return await listMembers(db, (await oneAccount(db, given)).id);
  });
  if (read.has("json")) {
    writeJson({ members: members.map(memberJson) });
    return;
  }
  const rows = members.map((member) => [
    `members/${member.id}`,
    member.email,
    member.role,
    member.is_operator ? "yes" : "",
    member.display_name,
    member.last_sign_in_at?.toISOString() ?? "never",
  ]);
  const head = ["NAME", "E-MAIL", "ROLE", "OPERATOR", "DISPLAY NAME", "LAST SIGN-IN"];
  process.stdout.write(
    rows.length === 0 ? "The account has no members.\n" : columns([head, ...rows]),
  );
}

const addOptions = {
  ...jsonOption,
  email: { hint: "E", meaning: "the e-mail address with which they sign in" },
  name: { hint: "N", meaning: "display name", fallback: "" },
  role: { hint: "R", meaning: "OWNER, MEMBER or VIEWER" },
} as const;

/** Runs `hlust accounts add-member ID --email E --role R`. */
export async function add(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<void> {
  const read = new Arguments(addOptions, args);
  const [given] = takePositionals(read.positionals, ["ID"]);
  const wanted = {
    email: readEmail(read.text("email") ?? ""),
    displayName: checkedName(read.text("name") ?? ""),
    role: readRole(read.text("role") ?? ""),
  };
  const member = await withDatabase(environment, async (db) => {
    return await addMember(db, (await oneAccount(db, given)).id, wanted);
  });
  report(read.has("json"), member, `is ${member.role}: members/${member.id}`);
}

/** Runs `hlust accounts remove-member ID MEMBER`. */
export async function remove(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const read = new Arguments(jsonOption, args);
  const [account, given = ""] = takePositionals(read.positionals, ["ID", "MEMBER"]);
  const member = await withDatabase(environment, async (db) => {
    const member = await oneMember(db, account, given);
    await removeMember(db, member);
    return member;
  });
  report(read.has("json"), member, "is removed");
}

/** Runs `hlust accounts set-role ID MEMBER ROLE`. */
export async function setRole(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const read = new Arguments(jsonOption, args);
  const names = ["ID", "MEMBER", "ROLE"];
  const [account, given = "", wanted = ""] = takePositionals(read.positionals, names);
  const role = readRole(wanted);
  const member = await withDatabase(environment, async (db) => {
    const member = await oneMember(db, account, given);
    const changed = await giveRole(db, member, role);
    if (!changed) throw new Error(`${member.email} has just been removed`);
    return changed;
  });
  report(read.has("json"), member, `is ${member.role}`);
}

/** Runs `hlust accounts set-operator ID MEMBER YES|NO`. */
export async function setOperator(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const read = new Arguments(jsonOption, args);
  const names = ["ID", "MEMBER", "YES|NO"];
  const [account, given = "", wanted = ""] = takePositionals(read.positionals, names);
  const answer = wanted.toLowerCase();
  if (answer !== "yes" && answer !== "no") {
    throw new UsageError(`${JSON.stringify(wanted)} is not an answer: use yes or no`);
  }
  const member = await withDatabase(environment, async (db) => {
    const member = await oneMember(db, account, given);
    const changed = await makeOperator(db, member, answer === "yes");
    if (!changed) throw new Error(`${member.email} has just been removed`);
    return changed;
  });
  const what = member.is_operator ? "is an operator" : "is not an operator";
  report(read.has("json"), member, `${what} of the service`);
}

function report(isJson: boolean, member: StoredMember, what: string): void {
  if (isJson) writeJson(memberJson(member));
  else process.stdout.write(`${member.email} ${what}\n`);
}

/** Returns a member as JSON, with the field names of the API. */
function memberJson(member: StoredMember) {
  return {
    name: `members/${member.id}`,
    email: member.email,
    displayName: member.display_name,
    role: member.role,
    operator: member.is_operator,
    creationTime: member.created_at,
    lastSignInTime: member.last_sign_in_at,
  };
}

function readEmail(text: string): string {
  if (text === "") throw new UsageError("--email is missing");
  if (foldEmail(text) !== undefined) return text;
  throw new UsageError(`--email must be an e-mail address in ASCII, not ${JSON.stringify(text)}`);
}

function readRole(text: string): Role {
  const role = roles.find((each) => each === text.toUpperCase());
  if (role) return role;
  if (text === "") throw new UsageError(`the role is missing: ${roles.join(", ")}`);
  const near = nearestNames(text, roles) || `: use ${roles.join(", ")}`;
  throw new UsageError(`${JSON.stringify(text)} is not a role${near}`);
}
