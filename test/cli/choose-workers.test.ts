import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import {
	chooseWorkers,
	parseWorkers,
	readMachine,
} from "../../src/cli/choose-workers.ts";

const GIB = 1024;

test.each([
	{ cores: 1, gib: 2, workers: 1 },
	{ cores: 2, gib: 24, workers: 1 },
	{ cores: 3, gib: 24, workers: 1 },
	{ cores: 4, gib: 8, workers: 2 },
	{ cores: 8, gib: 16, workers: 4 },
	// More would need more connections than PostgreSQL permits by default.
	{ cores: 64, gib: 256, workers: 4 },
	// The memory is the limit.
	{ cores: 8, gib: 4, workers: 3 },
	{ cores: 8, gib: 2, workers: 1 },
	{ cores: 0, gib: 0, workers: 1 },
])("with $cores cores and $gib GiB, --workers auto starts $workers", ({
	cores,
	gib,
	workers,
}) => {
	expect(chooseWorkers({ cores, memoryMib: gib * GIB })).toBe(workers);
});

const read = (path: string) =>
	parse(readFileSync(join(import.meta.dirname, "../../deploy", path), "utf8"));

test.each([
	["container", () => read("compose.yaml").services.assay.mem_limit],
	["Helm chart", () => read("helm/assay/values.yaml").resources.limits.memory],
])("the memory limit of the %s has room for one process and not for two", (_, limit) => {
	const [, mib] = /^(\d+)(?:m|Mi)$/.exec(limit()) ?? [];
	// The most that a process took (decision 0069).
	expect(Number(mib)).toBeGreaterThan(523);
	expect(chooseWorkers({ cores: 16, memoryMib: Number(mib) })).toBe(1);
});

test("auto stands for a number of processes, and this machine has cores and memory", () => {
	const { cores, memoryMib } = readMachine();
	expect(cores).toBeGreaterThanOrEqual(1);
	expect(memoryMib).toBeGreaterThan(100);
	expect(memoryMib).toBeLessThan(1e8);
	expect([1, 2, 3, 4]).toContain(parseWorkers("auto"));
});

test.each([
	"0",
	"65",
	"1.5",
	"-1",
	"",
	"many",
	"AUTO",
])("--workers %j is refused with what can be given", (text) => {
	expect(() => parseWorkers(text)).toThrow(
		"Give a whole number from 1 to 64, or auto.",
	);
});

test("a number is taken as it is, whatever fits", () => {
	expect(parseWorkers("1")).toBe(1);
	expect(parseWorkers("64")).toBe(64);
});
