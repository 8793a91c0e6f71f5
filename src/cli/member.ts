import { type Command, Option } from "commander";
import {
	removeMember,
	updateMember,
} from "../organizations/member-operations.ts";
import { parseOrganizationId } from "../organizations/organization-store.ts";
import { ROLES, type Role } from "../principal.ts";
import { requireUser } from "../sign-in/users.ts";
import { parseEmail } from "./email.ts";
import { print } from "./output.ts";
import { withOrganization } from "./with-organization.ts";

interface MemberOptions {
	email: string;
	org: string;
	json?: boolean;
}

export function addSetRole(user: Command): void {
	user
		.command("set-role")
		.description(
			"Change a member's role in an organization, which must keep at least one admin.",
		)
		.requiredOption(
			"--email <address>",
			"e-mail address of the member",
			parseEmail,
		)
		.requiredOption("--org <id>", "id of the organization")
		.addOption(
			new Option("--role <role>", "new role of the member")
				.choices(ROLES)
				.makeOptionMandatory(),
		)
		.option("--json", "print the result as JSON")
		.action(async (options: MemberOptions & { role: Role }) => {
			const organization_id = parseOrganizationId(options.org);
			const { role } = options;
			const changed = await withOrganization(
				organization_id,
				async (run, { identityPool }) => {
					const { id } = await requireUser(identityPool, options.email);
					return run(updateMember, { organization_id, user_id: id, role });
				},
			);
			const { email, role: now } = changed.member;
			print(options, changed, `${email} is ${now} of ${organization_id}.`);
		});
}

export function addRemove(user: Command): void {
	user
		.command("remove")
		.description(
			"Remove a member from an organization, which must keep at least one admin. The user's account and other memberships stay.",
		)
		.requiredOption(
			"--email <address>",
			"e-mail address of the member",
			parseEmail,
		)
		.requiredOption("--org <id>", "id of the organization")
		.option("--json", "print the result as JSON")
		.action(async (options: MemberOptions) => {
			const organization_id = parseOrganizationId(options.org);
			const removed = await withOrganization(
				organization_id,
				async (run, { identityPool }) => {
					const { id } = await requireUser(identityPool, options.email);
					return run(removeMember, { organization_id, user_id: id });
				},
			);
			const text = `${options.email} is no longer a member of ${organization_id}.`;
			print(options, removed, text);
		});
}
