import { expect, test } from "vitest";
import {
	nameOrUnnamed,
	namesApart,
} from "../../console/src/parts/devices/device-name.ts";

const named = (...devices: Parameters<typeof namesApart>[0]) => [
	...namesApart(devices).values(),
];

test("a device without a name is told by the end of its id", () => {
	expect(nameOrUnnamed("AAAAAAAAx9f2Qa", null)).toBe(
		"Unnamed device (…x9f2Qa)",
	);
	expect(nameOrUnnamed("AAAAAAAAx9f2Qa", "nb-1")).toBe("nb-1");
});

test("two devices that are shown together never look alike", () => {
	const one = { id: "AAAAAAAAAAAA000001", name: "nb-1" };
	const two = { id: "AAAAAAAAAAAA000002", name: "nb-1" };
	expect(named(one, two)).toEqual(["nb-1 (…000001)", "nb-1 (…000002)"]);
	expect(
		named({ ...one, serial_number: "C1" }, { ...two, serial_number: "C2" }),
	).toEqual(["nb-1 (serial number C1)", "nb-1 (serial number C2)"]);
	// A serial number that both have, or only one, tells nothing.
	const same = { serial_number: "C1" };
	expect(
		named(
			{ ...one, ...same, hardware_uuid: "h1" },
			{ ...two, ...same, hardware_uuid: "h2" },
		),
	).toEqual(["nb-1 (hardware h1)", "nb-1 (hardware h2)"]);
	expect(named({ ...one, ...same }, two)).toEqual([
		"nb-1 (…000001)",
		"nb-1 (…000002)",
	]);
});

test("a name that only one device has stays as it is, and a missing one gets a fact", () => {
	const one = { id: "AAAAAAAAAAAA000001", name: "nb-1" };
	const unnamed = { id: "AAAAAAAAAAAA000003", name: null };
	expect(named(one, one, unnamed)).toEqual([
		"nb-1",
		"Unnamed device (…000003)",
	]);
	expect(named({ ...unnamed, serial_number: "C3" })).toEqual([
		"Unnamed device (serial number C3)",
	]);
});
