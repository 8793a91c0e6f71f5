import { expect, test } from "vitest";
import { withCheckState } from "../../console/src/parts/devices/device-search.ts";

test("a check without a state in the address lists the devices that fail it", () => {
	expect(withCheckState({ check: "DISK_ENCRYPTION" })).toEqual({
		check: "DISK_ENCRYPTION",
		check_state: ["IN_GRACE", "FAILING"],
	});
});

test("a state in the address stays, and an address without a check gets none", () => {
	const silent = { check: "DISK_ENCRYPTION", check_state: "STALE" };
	expect(withCheckState(silent)).toEqual(silent);
	expect(withCheckState({ status: "ACTIVE" })).toEqual({ status: "ACTIVE" });
});
