import { afterAll, beforeAll, expect, test } from "vitest";
import { heartbeatBody } from "../support/service.ts";
import { type KeyEnrollments, shareKeyEnrollments } from "./key-enrollments.ts";

let assay: KeyEnrollments;
beforeAll(async () => {
	assay = await shareKeyEnrollments();
});
afterAll(() => assay.close());

test("agent_older_than compares with the version of each platform, and only Assay's own agents", async () => {
	const { secret } = await assay.addKey({ name: "Platforms" });
	const add = async (platform: string, agent: string, version: string) => {
		const key = await assay.enroll(secret);
		const facts = { platform, agent_version: version, hostname: "by-platform" };
		const answer = await assay.post("heartbeat", heartbeatBody(facts), {
			key,
			headers: { "user-agent": `${agent}/${version}` },
		});
		expect(answer.status).toBe(200);
	};
	await add("LINUX", "assay-agent", "1.3.0");
	await add("WINDOWS", "assay-agent", "1.3.0");
	await add("WINDOWS", "assay-agent", "1.2.0");
	await add("DARWIN", "assay-agent", "1.0.0");
	await add("LINUX", "probo-agent", "0.1.0");
	const found = async (agent_older_than: string) => {
		const devices = await assay.devicesOf({ agent_older_than });
		const { total } = await assay.use("countRecords", {
			organization_id: assay.organizationId,
			kind: "device",
			filter: { agent_older_than },
		});
		expect(total).toBe(devices.length);
		return devices
			.filter(({ hostname }) => hostname === "by-platform")
			.map(
				({ platform, agent_name, agent_version }) =>
					`${platform} ${agent_name} ${agent_version}`,
			)
			.sort();
	};
	expect(await found("LINUX 1.4.0, WINDOWS 1.3.0")).toEqual([
		"LINUX assay-agent 1.3.0",
		"WINDOWS assay-agent 1.2.0",
	]);
	expect(await found("1.3.0")).toEqual([
		"DARWIN assay-agent 1.0.0",
		"WINDOWS assay-agent 1.2.0",
	]);
	for (const wrong of ["1.4", "LINUX", "BEOS 1.4.0", "LINUX 1.4.0;", ""]) {
		const { status, body } = await assay.call("listDevices", {
			organization_id: assay.organizationId,
			filter: { agent_older_than: wrong },
		});
		expect(status).toBe(400);
		expect(body.message).toContain("filter.agent_older_than");
	}
});
