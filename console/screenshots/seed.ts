import type { Client } from "pg";
import type { APIRequestContext } from "playwright-core";
import { CANONICAL_CHECKS } from "../../src/devices/terms.ts";
import * as given from "./organization.ts";

const DAY_MS = 86_400_000;
const DEVICES = 42;
const STALE = 3;
const MISSING = 2;

// biome-ignore lint/suspicious/noExplicitAny: the answers of any operation.
type Answer = any;

/**
 * Fills the organization through the service's own HTTP interface. Returns the ids of the records
 * that appear in a screenshot of their own.
 */
export async function seed(
	request: APIRequestContext,
	client: Client,
	base: string,
	organization_id: string,
) {
	const use = async (operation: string, input: object): Promise<Answer> => {
		const answer = await request.post(`${base}/api/console/${operation}`, {
			data: { organization_id, ...input },
			headers: { origin: base },
		});
		if (!answer.ok()) throw new Error(`${operation}: ${await answer.text()}`);
		return answer.json();
	};
	const link = (record_id: string, linked_record_id: string) =>
		use("linkRecords", {
			record_id,
			linked_record_id,
			organization_id: undefined,
		});

	const owners: string[] = [];
	for (const [full_name, position] of given.people) {
		const first = full_name.split(" ")[0]?.normalize("NFD");
		const { people } = await use("addPeople", {
			full_name,
			position,
			kind: "EMPLOYEE",
			primary_email_address: `${first?.replace(/\W/g, "").toLowerCase()}@harbourpine.example`,
		});
		owners.push(people.id);
	}
	for (const [name, category, countries] of given.vendors) {
		await use("addVendor", { name, category, countries, owner_id: owners[1] });
	}
	const measures: string[] = [];
	for (const [name, category, state, owner] of given.measures) {
		const added = await use("addMeasure", {
			name,
			category,
			state,
			owner_id: owners[owner],
		});
		measures.push(added.measure.id);
	}
	const { framework } = await use("addFramework", given.framework);
	for (const [section_title, name, met] of given.controls) {
		const { control } = await use("addControl", {
			framework_id: framework.id,
			section_title,
			name,
		});
		for (const at of met) await link(control.id, measures[at] ?? "");
	}
	const devices = await addDevices(use, client, base, owners);
	for (const [
		description,
		severity,
		status,
		owner,
		days,
	] of given.nonconformities) {
		await use("addNonconformity", {
			description,
			severity,
			status,
			owner_id: owners[owner],
			due_date: day(days),
		});
	}
	for (const [
		requirement,
		source,
		type,
		status,
		owner,
		days,
	] of given.obligations) {
		await use("addObligation", {
			requirement,
			source,
			type,
			status,
			owner_id: owners[owner],
			due_date: day(days),
		});
	}
	for (const [name, priority, state, owner, days] of given.tasks) {
		await use("addTask", {
			name,
			priority,
			state,
			assigned_to_id: owners[owner],
			deadline: day(days),
		});
	}
	for (const [
		description,
		priority,
		status,
		owner,
		days,
	] of given.improvements) {
		await use("addContinualImprovement", {
			description,
			priority,
			status,
			owner_id: owners[owner],
			target_date: day(days),
		});
	}
	const risks: string[] = [];
	for (const [
		name,
		category,
		treatment,
		il,
		ii,
		rl,
		ri,
		owner,
	] of given.risks) {
		const { risk } = await use("addRisk", {
			name,
			category,
			treatment,
			inherent_likelihood: il,
			inherent_impact: ii,
			residual_likelihood: rl,
			residual_impact: ri,
			owner_id: owners[owner],
		});
		risks.push(risk.id);
	}
	const [ransomware = "", stolen = "", , , access = ""] = risks;
	await link(ransomware, measures[0] ?? "");
	await link(stolen, measures[0] ?? "");
	await link(access, measures[3] ?? "");
	// These changes appear as the latest ones on the home page. They touch several registers.
	const change = (operation: string, input: object) =>
		use(operation, { ...input, organization_id: undefined });
	await use("inviteMember", {
		email: "jonas@harbourpine.example",
		role: "member",
	});
	await use("addTask", { name: "Restore the archive again", priority: "HIGH" });
	await change("updateMeasure", { id: measures[6], state: "IN_PROGRESS" });
	await change("updateDevice", { id: devices.device, owner_id: owners[4] });
	await use("addVendor", { name: "Keyworks", category: "SECURITY" });
	await change("updateRisk", {
		id: access,
		note: "Reviewed after the leavers' checklist came into use.",
	});
	// Moves the times of the records into the past, because no organization fills its registers
	// within a minute.
	for (const table of ["risks", "measures", "controls", "tasks"]) {
		await client.query(
			`update ${table} t
			set created_at = now() - a.age, updated_at = now() - a.age / 3
			from (
				select id, row_number() over (order by md5(id)) * interval '31 hours' as age from ${table}
			) a
			where t.id = a.id`,
		);
	}
	return { ...devices, risk: stolen, framework: framework.id as string };
}

function day(days: number): string {
	return new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
}

/** Enrolls devices and sends their reports of the last three months, as their agents would. */
async function addDevices(
	use: (operation: string, input: object) => Promise<Answer>,
	client: Client,
	base: string,
	owners: string[],
) {
	const silent: string[] = [];
	let failing = "";
	for (let n = 0; n < DEVICES; n++) {
		const name = `hp-${["mbp", "ws", "nb"][n % 3]}-${100 + n}`;
		const { device, enrollment_token: token } = await use("addDevice", {
			name,
			owner_id: owners[n % owners.length],
		});
		// The last two devices do not enroll, so they show the waiting state.
		if (n >= DEVICES - 2) continue;
		const { api_key } = await tell(base, "enroll", { token });
		const [platform, os_version] =
			given.systems[n % given.systems.length] ?? [];
		await tell(
			base,
			"heartbeat",
			{
				hardware_uuid: crypto.randomUUID(),
				serial_number: `HP${4000 + n * 7}`,
				hostname: `${name}.local`,
				platform,
				os_version,
				agent_version: "1.4.0",
			},
			api_key,
		);
		for (const daysAgo of [90, 60, 34, 12, 3, 0]) {
			await tell(base, "postures", { results: resultsOf(n, daysAgo) }, api_key);
		}
		if (n === 7) failing = device.id;
		if (n >= DEVICES - 2 - STALE - MISSING) silent.push(device.id);
	}
	// Hourly reports between these would make the pictures slow, so the devices were not silent.
	await client.query("delete from device_silences");
	// Moves the times of some devices into the past, so that they are silent without waiting a day.
	await client.query(
		"update devices set last_seen_at = now() - interval '26 hours' where id = any($1)",
		[silent.slice(0, STALE)],
	);
	await client.query(
		"update devices set last_seen_at = now() - interval '12 days' where id = any($1)",
		[silent.slice(STALE)],
	);
	return { device: failing };
}

/**
 * Returns the results that device `n` observed `daysAgo` days ago. Most checks pass, some were
 * failing and have been fixed, and some have begun to fail.
 */
function resultsOf(n: number, daysAgo: number) {
	const observed_at = new Date(Date.now() - daysAgo * DAY_MS).toISOString();
	return Object.keys(CANONICAL_CHECKS).map((check_key, at) => {
		const odd = (n * 5 + at * 3) % 23;
		const status =
			odd === 0
				? daysAgo > 40
					? "PASS"
					: "FAIL"
				: odd === 1
					? daysAgo > 20
						? "FAIL"
						: "PASS"
					: odd === 2 && at > 3
						? "UNKNOWN"
						: n === 7 && at === 0 && daysAgo < 60
							? "FAIL"
							: "PASS";
		return {
			check_key,
			status,
			observed_at,
			evidence: { source: "agent", checked: check_key.toLowerCase() },
		};
	});
}

async function tell(
	base: string,
	route: string,
	body: object,
	key?: string,
): Promise<Answer> {
	const answer = await fetch(`${base}/api/agent/v1/${route}`, {
		method: "POST",
		body: JSON.stringify(body),
		headers: key ? { authorization: `Bearer ${key}` } : {},
	});
	if (!answer.ok) throw new Error(`${route}: ${await answer.text()}`);
	return answer.status === 204 ? undefined : answer.json();
}
