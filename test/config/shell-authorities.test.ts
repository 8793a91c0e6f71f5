import { expect, test } from "vitest";
import {
	compareAuthorities,
	findHiddenAuthorities,
} from "../../src/config/shell-authorities.ts";

const FILE = "/etc/assay.env";
const set = (path: string) => ({ NODE_EXTRA_CA_CERTS: path });

test("a difference is found when the shell's certificate authorities are not those of the service", () => {
	expect(
		compareAuthorities(set("/own.pem"), set("/service.pem"), FILE)?.found,
	).toMatch(
		/of this shell \(\/own\.pem\) takes precedence.*\/etc\/assay\.env has \/service\.pem/,
	);
	expect(compareAuthorities(set("/own.pem"), {}, FILE)?.found).toContain(
		"/etc/assay.env does not set it",
	);
	expect(compareAuthorities(set(""), set("/service.pem"), FILE)).toBeDefined();
});

test("no difference is found when a command trusts the same authorities as the service", () => {
	const same = set("/service.pem");
	expect(compareAuthorities({}, same, FILE)).toBeUndefined();
	expect(compareAuthorities(same, same, FILE)).toBeUndefined();
	expect(compareAuthorities(set(""), {}, FILE)).toBeUndefined();
});

test("a file of authorities that the unit hides from the service is found", () => {
	for (const file of ["/tmp/ca.pem", "/var/tmp/ca.pem", "/root/ca/ca.pem"]) {
		expect(findHiddenAuthorities(set(file))?.found).toContain(file);
	}
	for (const file of ["/etc/assay/ca.pem", "/var/lib/tmp/ca.pem", ""]) {
		expect(findHiddenAuthorities(set(file))).toBeUndefined();
	}
	expect(findHiddenAuthorities({})).toBeUndefined();
});
