import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import type { Role } from "../../src/principal.ts";
import type { TestUser } from "../support/people.ts";
import {
	heartbeatBody,
	postureResult,
	type TestDevice,
} from "../support/service.ts";
import type { TestConsole } from "./browser.ts";

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

export interface Fleet {
	/**
	 * Opens a page as a user with this role in a new organization. `prepare` first creates what the
	 * page shows. It may return the path of the page.
	 */
	start: (
		role: Role,
		prepare: (organization: string) => Promise<string | undefined>,
	) => Promise<{
		page: Page;
		organization: string;
		person: TestUser;
		/** Returns a path within the organization. */
		at: (path: string) => string;
	}>;
	/** Adds an ACTIVE device without a name that reported once, `agoMs` milliseconds ago. */
	addReporting: (
		organization: string,
		hostname: string,
		statuses: Record<string, string>,
		when?: { agoMs?: number },
	) => Promise<TestDevice>;
	/** Sends a report with these statuses, observed `agoMs` milliseconds ago. */
	report: (
		device: TestDevice,
		statuses: Record<string, string>,
		agoMs?: number,
	) => Promise<void>;
	/** Changes the time of the device's last heartbeat to `agoMs` milliseconds ago. */
	silence: (device: TestDevice, agoMs: number) => Promise<void>;
}

/** Returns functions with which tests create and change devices in this service. */
export function fleetOf(served: TestConsole): Fleet {
	let made = 0;
	const report: Fleet["report"] = async (device, statuses, agoMs = 0) => {
		const observed_at = new Date(Date.now() - agoMs).toISOString();
		const results = Object.entries(statuses).map(([check_key, status]) =>
			postureResult({
				check_key,
				status,
				observed_at,
				evidence: { tool: "checker", details: { volumes: ["root", "home"] } },
			}),
		);
		await must(served.post("postures", { results }, { key: device.key }), 204);
	};
	return {
		report,
		start: async (role, prepare) => {
			const organization = await createOrganization(
				served.database.pool,
				`Company ${++made}`,
			);
			const path = (await prepare(organization)) ?? "/devices";
			const person = await served.makePerson(role, organization);
			const at = (rest: string) => `/o/${organization}${rest}`;
			const page = await served.openPageAs(person, at(path));
			return { page, organization, person, at };
		},
		addReporting: async (
			organization,
			hostname,
			statuses,
			{ agoMs = 0 } = {},
		) => {
			const device = await served.enrollDevice(organization);
			const { key, hardwareUuid: hardware_uuid } = device;
			const body = heartbeatBody({ hostname, hardware_uuid });
			await must(served.post("heartbeat", body, { key }), 200);
			// A device without a name is listed by its host name.
			await served.database.owner.query(
				"update devices set name = null where id = $1",
				[device.id],
			);
			await report(device, statuses, agoMs);
			return device;
		},
		silence: async ({ id }, agoMs) => {
			await served.database.owner.query(
				"update devices set last_seen_at = now() - $2 * interval '1 ms' where id = $1",
				[id, agoMs],
			);
		},
	};
}

/** Expects an answer with this status. Returns its body. */
export async function must(
	answer: Promise<Response>,
	status: number,
): Promise<string> {
	const response = await answer;
	const text = await response.text();
	expect(response.status, text).toBe(status);
	return text;
}

/** Returns the states in a timeline, oldest first. */
export async function statesOf(timeline: Locator) {
	const spans = await timeline.locator("[data-status]").all();
	return Promise.all(spans.map((span) => span.getAttribute("data-status")));
}
