import { expect, test } from "vitest";
import { takeLock } from "../../agent/lock.ts";
import { readStateOf, writeState } from "../../agent/state.ts";
import { describeStatus, readStatus } from "../../agent/status.ts";
import { makeEnrolledFolder } from "./folders.ts";

test("`status` shows the next heartbeat after the back-off, not before", async () => {
	const { folder, credentials } = await makeEnrolledFolder("http://localhost");
	const lock = await takeLock(folder);
	const state = await readStateOf(folder, credentials.enrollment_id);
	const at = "2026-11-22T03:24:42.713Z";
	const told = async (trouble: typeof state.trouble) => {
		const times = { last_heartbeat_at: at, last_checks_at: at };
		await writeState(folder, { ...state, ...times, trouble });
		const status = await readStatus(folder, async () => "");
		return { status, text: describeStatus(status) };
	};
	const well = await told(null);
	expect(well.text).toMatch(/^heartbeat .*, next about 2026-/m);
	const away = await told({ since: at, reason: "there is no network" });
	expect(away.status.next_heartbeat_at).toBeNull();
	expect(away.text).toMatch(/^heartbeat +2026-\S+$/m);
	// The checks need no service, so their next time is still shown.
	expect(away.text).toMatch(/^checks .*, next about 2026-/m);
	await lock.release();
});
