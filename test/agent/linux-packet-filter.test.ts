import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { checkFirewall } from "../../agent/checks/linux/firewall.ts";
import { type Recording, recordedHost } from "./recorded-host.ts";
import { FIREWALL_CASES } from "./recordings/firewall-cases.ts";
import { linux } from "./recordings/linux.ts";

interface Output {
	name: string;
	commands: NonNullable<Recording["commands"]>;
	files: NonNullable<Recording["files"]>;
}

const OUTPUTS = new Map(
	readFileSync(
		new URL("recordings/firewall-outputs.ndjson", import.meta.url),
		"utf8",
	)
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line) as Output)
		.map((output) => [output.name, output]),
);

describe("the verdict about rules that the real nft and iptables printed", () => {
	test.each(FIREWALL_CASES)("$name", async ({ name, status, evidence }) => {
		const { commands, files } = OUTPUTS.get(name) ?? {};
		if (!commands || !files) throw new Error("there is no recording");
		const host = recordedHost(linux({ commands, files }));
		expect(await checkFirewall(host)).toMatchObject({
			status,
			evidence: { ...evidence },
		});
	});
});
