import { type Command, InvalidArgumentError } from "commander";
import type { z } from "zod";
import {
	addEnrollmentKey,
	listEnrollmentKeys,
	revokeEnrollmentKey,
} from "../devices/enrollment-key-operations.ts";
import {
	DEFAULT_KEY_DAYS,
	type EnrollmentKey,
	MAX_KEY_DAYS,
	MAX_KEY_DEVICES,
} from "../devices/enrollment-key-record.ts";
import { listDeviceGroups } from "../devices/group-operations.ts";
import { AppError } from "../errors.ts";
import { parseId } from "../id.ts";
import { parseOrganizationId } from "../organizations/organization-store.ts";
import { MAX_PAGE_SIZE } from "../records/page-sizes.ts";
import { COMMAND } from "../version.ts";
import { parseName } from "./org.ts";
import { print, printable, table } from "./output.ts";
import { type Run, withOrganization } from "./with-organization.ts";

interface OfOrganization {
	org: string;
	json?: boolean;
}

interface CreateOptions extends OfOrganization {
	name: string;
	maxDevices: number;
	expiresInDays: number;
	requireApproval?: boolean;
	group?: string;
}

/** Adds the commands for secrets with which many devices enroll. */
export function addEnrollmentKeys(program: Command): void {
	const key = program
		.command("enrollment-key")
		.description("Manage enrollment keys, with which many devices enroll.");
	addCreate(key);
	addList(key);
	addRevoke(key);
}

function addCreate(key: Command): void {
	key
		.command("create")
		.description(
			"Create an enrollment key and print its secret, which is shown only once.",
		)
		.requiredOption("--org <id>", "id of the organization")
		.requiredOption(
			"--name <name>",
			"name that says what the key is for",
			parseName,
		)
		.requiredOption(
			"--max-devices <number>",
			"most devices that may enroll with it",
			parseNumber(MAX_KEY_DEVICES),
		)
		.option(
			"--expires-in-days <days>",
			"days until the key expires",
			parseNumber(MAX_KEY_DAYS),
			DEFAULT_KEY_DAYS,
		)
		.option(
			"--require-approval",
			"keep each device pending until an administrator approves it",
		)
		.option(
			"--group <group>",
			"name or id of a group without a filter that the devices join",
		)
		.option("--json", "print the result as JSON")
		.action(async (options: CreateOptions) => {
			const organizationId = parseOrganizationId(options.org);
			const made = await withOrganization(organizationId, async (run) => {
				const group =
					options.group === undefined
						? undefined
						: await findGroup(run, organizationId, options.group);
				return run(addEnrollmentKey, {
					organization_id: organizationId,
					name: options.name,
					max_devices: options.maxDevices,
					expires_in_days: options.expiresInDays,
					requires_approval: options.requireApproval ?? false,
					...(group !== undefined && { group_id: group }),
				});
			});
			const { key, enrollment_key: secret, server_url: serverUrl } = made;
			const joins =
				key.group_name === null
					? ""
					: `, which join the group ${printable(key.group_name)}`;
			print(
				options,
				made,
				`Enrollment key ${key.id} for at most ${key.max_devices} devices${joins}
Secret (shown only once, expires ${key.expires_at}):
  ${secret}

On each device, put the secret into a file that only root can read, and then:
  assay-agent install --server ${serverUrl} --enrollment-token-file <file> --owner-email <address>`,
			);
		});
}

/**
 * Returns the id of the group with this name or id. Throws bad_request if no group has the name.
 */
async function findGroup(
	run: Run,
	organizationId: string,
	nameOrId: string,
): Promise<string> {
	if (parseId(nameOrId)?.kind === "device_group") return nameOrId;
	let cursor: string | null = null;
	do {
		const page: z.output<typeof listDeviceGroups.output> = await run(
			listDeviceGroups,
			{ organization_id: organizationId, size: MAX_PAGE_SIZE, cursor },
		);
		const found = page.device_groups.find(({ name }) => name === nameOrId);
		if (found) return found.id;
		cursor = page.next_cursor;
	} while (cursor !== null);
	throw new AppError(
		"bad_request",
		`no group of the organization has the name or id ${printable(nameOrId)}; the console lists the groups under Devices → Actions → Groups`,
	);
}

function addList(key: Command): void {
	key
		.command("list")
		.description("List an organization's enrollment keys, newest first.")
		.requiredOption("--org <id>", "id of the organization")
		.option("--json", "print the result as JSON")
		.action(async (options: OfOrganization) => {
			const organizationId = parseOrganizationId(options.org);
			const keys = await withOrganization(organizationId, async (run) => {
				const all: EnrollmentKey[] = [];
				let cursor: string | null = null;
				do {
					const page: z.output<typeof listEnrollmentKeys.output> = await run(
						listEnrollmentKeys,
						{ organization_id: organizationId, size: MAX_PAGE_SIZE, cursor },
					);
					all.push(...page.enrollment_keys);
					cursor = page.next_cursor;
				} while (cursor !== null);
				return all;
			});
			print(
				options,
				{ enrollment_keys: keys },
				keys.length === 0
					? `No enrollment keys. Create one: ${COMMAND} enrollment-key create --org ${options.org} --name <name> --max-devices <number>`
					: table(
							["ID", "STATE", "USED", "WAITING", "EXPIRES", "GROUP", "NAME"],
							keys.map((key) => [
								key.id,
								key.state,
								`${key.used} of ${key.max_devices}`,
								String(key.waiting),
								key.expires_at,
								printable(key.group_name ?? "-"),
								printable(key.name),
							]),
						),
			);
		});
}

function addRevoke(key: Command): void {
	key
		.command("revoke <id>")
		.description(
			"Revoke an enrollment key: no further device can enroll with it. Enrolled devices keep working.",
		)
		.requiredOption("--org <id>", "id of the organization")
		.option("--json", "print the result as JSON")
		.action(async (id: string, options: OfOrganization) => {
			const revoked = await withOrganization(
				parseOrganizationId(options.org),
				(run) => run(revokeEnrollmentKey, { id }),
			);
			print(
				options,
				revoked,
				`The enrollment key ${id} (${printable(revoked.key.name)}) is revoked.`,
			);
		});
}

const parseNumber = (most: number) => (text: string) => {
	const number = Number(text);
	if (!/^\d+$/.test(text) || number < 1 || number > most) {
		throw new InvalidArgumentError(`Give a whole number from 1 to ${most}.`);
	}
	return number;
};
