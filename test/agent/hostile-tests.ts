import { describe, expect, test } from "vitest";
import type { Check, CheckKey } from "../../agent/checks/check.ts";
import { runChecks } from "../../agent/checks/run-checks.ts";
import type { Host } from "../../agent/host.ts";
import { HOSTILE_TEXTS, MARKER, sayingAlso, sayingOnly } from "./hostile.ts";
import { type Recording, recordedHost } from "./recorded-host.ts";

/** A system's part of the agent, and devices on which all of its checks pass and all fail. */
interface System {
	checks: Record<CheckKey, Check>;
	/** May leave out what is quoted as the device says it. */
	findFacts: (host: Host) => Promise<object>;
	good: Recording;
	bad: Recording;
}

/** Makes the tests that no check of a system passes for, quotes or crashes on what it cannot have been written for. */
export function testHostileOutput({ checks, findFacts, good, bad }: System) {
	describe("hostile output", () => {
		test("the recordings it is put into pass and fail in all nine", async () => {
			const statuses = async (recording: Recording) =>
				(await collect(recording)).map(({ check_key, status }) => [
					check_key,
					status,
				]);
			const all = (status: string) =>
				Object.keys(checks).map((key) => [key, status]);
			expect(Object.keys(checks)).toHaveLength(9);
			expect(await statuses(good)).toEqual(all("PASS"));
			expect(await statuses(bad)).toEqual(all("FAIL"));
		});

		test.each(
			Object.entries(HOSTILE_TEXTS),
		)("%s: no check passes for it, quotes it or breaks", async (_, text) => {
			for (const recording of [
				sayingOnly(good, text),
				...sayingAlso(bad, text),
			]) {
				for (const { status } of await collect(recording)) {
					expect(status).not.toBe("PASS");
				}
			}
			for (const recording of sayingAlso(good, text)) await collect(recording);
		});
	});

	/** The nine results, of which none may have crashed, quote the marker or be large. */
	async function collect(recording: Recording) {
		const crashed: string[] = [];
		const results = await runChecks(checks, recordedHost(recording), {
			onCrash: (key) => crashed.push(key),
		});
		expect(crashed).toEqual([]);
		const json = JSON.stringify(results.map(({ evidence }) => evidence));
		expect(json).not.toContain(MARKER);
		expect(json.length).toBeLessThan(4096);
		const facts = await findFacts(recordedHost(recording));
		expect(JSON.stringify(facts)).not.toContain(MARKER);
		return results;
	}
}
