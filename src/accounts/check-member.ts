import { create } from "@bufbuild/protobuf";
import { roles, type Role } from "../auth/caller.ts";
import { emailLengthMax, foldEmail } from "../auth/email.ts";
import {
  MemberSchema,
  Role as RoleNumber,
  type CreateMemberRequest,
  type Member,
  type UpdateMemberRequest,
} from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { checkDisplayName } from "../std/display-name.ts";
import { invalidArgument, shown, Violations } from "../std/service-error.ts";

/** The columns of a new member. */
export interface NewMember {
  readonly email: string;
  readonly display_name: string;
  readonly role: Role;
}

/** The columns that an update changes. */
export interface MemberChange {
  display_name?: string;
  role?: Role;
}

/** Returns the columns of a new member. Throws all violations. */
export function checkNewMember({ email, displayName, role }: CreateMemberRequest): NewMember {
  const violations = new Violations();
  if (email === "") violations.add("email", "is required");
  else if (foldEmail(email) === undefined) {
    const problem = `is not an ASCII e-mail address of at most ${emailLengthMax} characters`;
    violations.add("email", `${shown(email)} ${problem}`);
  }
  checkDisplayName(displayName, violations);
  const known = readRole(role, violations);
  violations.throwIfAny();
  if (!known) throw new TypeError("a violation was not thrown");
  return { email, display_name: displayName, role: known };
}

const changeable = ["displayName", "role"] as const;
type Changeable = (typeof changeable)[number];

/** Returns the changes of an update. Throws all violations of the named fields. */
export function readMemberChange(request: UpdateMemberRequest): MemberChange {
  const member = request.member ?? create(MemberSchema);
  const violations = new Violations();
  const fields = fieldsOf(request, member, violations);
  const change: MemberChange = {};
  if (fields.has("displayName")) {
    checkDisplayName(member.displayName, violations);
    change.display_name = member.displayName;
  }
  if (fields.has("role")) {
    const role = readRole(member.role, violations);
    if (role) change.role = role;
  }
  if (violations.isEmpty && fields.size === 0) {
    violations.add("member", `at least one of ${changeable.join(", ")} is required`);
  }
  violations.throwIfAny();
  return change;
}

/**
 * Refuses a change of the address, since the address identifies the person who was invited. A
 * member can be sent back as it was read.
 */
export function refuseOtherEmail({ member, updateMask }: UpdateMemberRequest, email: string): void {
  const paths = updateMask?.paths ?? [];
  const sent = member?.email ?? "";
  const isNamed = paths.length === 0 ? sent !== "" : paths.includes("email");
  if (!isNamed || sent === email) return;
  const description = "cannot be changed: remove the member and invite the new address";
  throw invalidArgument([{ field: "email", description }]);
}

/**
 * Returns the fields in the mask, by proto or JSON name; without a mask, the fields that are set.
 * Other fields of a member are skipped.
 */
function fieldsOf(
  { updateMask }: UpdateMemberRequest,
  member: Member,
  violations: Violations,
): Set<Changeable> {
  const paths = updateMask?.paths ?? [];
  if (paths.length === 0) {
    return new Set(changeable.filter((field) => member[field] !== "" && member[field] !== 0));
  }
  const fields = new Set<Changeable>();
  for (const path of paths) {
    const named = MemberSchema.fields.find(({ name, jsonName }) => [name, jsonName].includes(path));
    const field = changeable.find((each) => each === named?.localName);
    if (field) fields.add(field);
    else if (!named) violations.add("updateMask", `${shown(path)} is not a field of a member`);
  }
  return fields;
}

function readRole(number: RoleNumber, violations: Violations): Role | undefined {
  const role = roles.find((each) => RoleNumber[each] === number);
  if (!role) violations.add("role", `is required: one of ${roles.join(", ")}`);
  return role;
}
