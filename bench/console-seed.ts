import type { Client } from "pg";
import { CHECK_KEYS } from "../src/devices/terms.ts";
import { makeId } from "../src/id.ts";
import { makeIdentityId } from "../src/sign-in/users.ts";
import { seedRegister } from "./mcp-seed.ts";

/** Creates an organization whose administrator is the user `email`. Returns its id. */
export async function seedConsole(
	client: Client,
	user: { email: string; passwordHash: string },
	size: { risks: number; devices: number },
): Promise<string> {
	const { organizations } = await seedRegister(client, {
		organizations: 1,
		risks: size.risks,
	});
	const [organization = ""] = organizations;
	await client.query(
		`insert into memberships (organization_id, user_id, role)
		select $1, user_id, 'admin' from create_user($2, $3, 'Ada', $4, $5)`,
		[
			organization,
			makeIdentityId("user"),
			user.email,
			makeIdentityId("account"),
			user.passwordHash,
		],
	);
	await seedDevices(client, organization, size.devices);
	// Home shows the tiles of open work only if there is some.
	await client.query(
		"insert into tasks (organization_id, id, name) values ($1, $2, 'Encrypt the laptops')",
		[organization, makeId(organization, "task")],
	);
	await client.query("vacuum (analyze)");
	return organization;
}

/**
 * Creates ACTIVE devices, each with a fresh heartbeat and results for every canonical check. Some
 * checks fail on some of them.
 */
async function seedDevices(
	client: Client,
	organization: string,
	count: number,
): Promise<void> {
	const ids = Array.from({ length: count }, () =>
		makeId(organization, "device"),
	);
	await client.query(
		`insert into devices (
			organization_id, id, name, status, hardware_uuid, hardware_hash, platform, hostname, hostname_key,
			os_version, agent_version, enrolled_at, activated_at, last_seen_at, search_text
		)
		select
			$1, d.id, 'laptop ' || n, 'ACTIVE', d.id, sha256(convert_to(d.id, 'UTF8')),
			(array['LINUX', 'DARWIN', 'WINDOWS'])[1 + n % 3], 'host-' || n, sort_key('host-' || n),
			'1.0', '1.0', now(), now(), now(), search_text('laptop ' || n, 'host-' || n)
		from unnest($2::text[]) with ordinality d (id, n)`,
		[organization, ids],
	);
	await client.query(
		`insert into posture_spans (
			organization_id, device_id, check_key, since, last_observed_at, status, first_report_id, last_report_id, is_current
		)
		select
			$1, d.id, c.key, now() - d.n * interval '1 hour', now(),
			case when d.n % (7 + c.n) = 0 then 'FAIL' else 'PASS' end, $4, $4, true
		from unnest($2::text[]) with ordinality d (id, n)
		cross join unnest($3::text[]) with ordinality c (key, n)`,
		[
			organization,
			ids,
			CHECK_KEYS,
			makeId(organization, "device_posture_report"),
		],
	);
}
