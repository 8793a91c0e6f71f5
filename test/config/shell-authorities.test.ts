import { expect, test } from "vitest";
import { warnOfAuthorities } from "../../src/config/shell-authorities.ts";

const FILE = "/etc/assay.env";
const set = (path: string) => ({ NODE_EXTRA_CA_CERTS: path });

test("a command warns when the shell's certificate authorities are not those of the service", () => {
	expect(warnOfAuthorities(set("/own.pem"), set("/service.pem"), FILE)).toMatch(
		/of this shell \(\/own\.pem\) takes precedence.*\/etc\/assay\.env has \/service\.pem/,
	);
	expect(warnOfAuthorities(set("/own.pem"), {}, FILE)).toContain(
		"/etc/assay.env does not set it",
	);
	expect(warnOfAuthorities(set(""), set("/service.pem"), FILE)).toBeDefined();
});

test("a command does not warn when it trusts the same authorities as the service", () => {
	const same = set("/service.pem");
	expect(warnOfAuthorities({}, same, FILE)).toBeUndefined();
	expect(warnOfAuthorities(same, same, FILE)).toBeUndefined();
	expect(warnOfAuthorities(set(""), {}, FILE)).toBeUndefined();
});
