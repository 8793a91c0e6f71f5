import { expect, test } from "vitest";
import { MAX_FILTER, parseFilter, parsePath } from "../../src/scim/filter.ts";
import { matches } from "../../src/scim/filter-match.ts";

const compare = (path: string, operator: string, value: unknown = null) => ({
	kind: "compare",
	path,
	operator,
	value,
});

test("a filter is read with the precedence of RFC 7644", () => {
	expect(parseFilter('userName eq "bjensen"')).toEqual(
		compare("username", "eq", "bjensen"),
	);
	expect(parseFilter("title pr")).toEqual(compare("title", "pr"));
	expect(
		parseFilter('title pr and userType eq "Employee" or active eq true'),
	).toEqual({
		kind: "or",
		left: {
			kind: "and",
			left: compare("title", "pr"),
			right: compare("usertype", "eq", "Employee"),
		},
		right: compare("active", "eq", true),
	});
	expect(
		parseFilter(
			'userType eq "Employee" and (emails co "example.com" or emails.value co "example.org")',
		),
	).toMatchObject({ kind: "and", right: { kind: "or" } });
	expect(
		parseFilter('userType ne "Employee" and not (emails co "example.com")'),
	).toMatchObject({
		right: { kind: "not", of: compare("emails", "co", "example.com") },
	});
	expect(
		parseFilter(
			'emails[type eq "work" and value co "@example.com"] or ims[type eq "xmpp"]',
		),
	).toMatchObject({
		left: { kind: "element", path: "emails", of: { kind: "and" } },
		right: { kind: "element", path: "ims" },
	});
	expect(
		parseFilter('urn:ietf:params:scim:schemas:core:2.0:User:userName sw "J"'),
	).toEqual(compare("username", "sw", "J"));
	expect(parseFilter('a EQ "q\\"\\u0041\\\\"')).toEqual(
		compare("a", "eq", 'q"A\\'),
	);
});

test("a wrong filter is refused with invalidFilter", () => {
	for (const wrong of [
		"",
		"userName",
		"userName eq",
		"userName is 1",
		'userName eq "open',
		'userName eq "a" and',
		'(userName eq "a"',
		'userName eq "a")',
		'emails[type eq "work"',
		"userName eq bare",
		'eq "a"',
		'userName eq "a" "b"',
		'userName eq "\\u0000"',
		'userName eq "\\ud800"',
		"()",
		"not",
		`${"(".repeat(50)}a pr${")".repeat(50)}`,
		Array(30).fill("a pr").join(" or "),
		`userName eq "${"x".repeat(MAX_FILTER)}"`,
	]) {
		expect(() => parseFilter(wrong), wrong).toThrow(
			expect.objectContaining({ status: 400, scimType: "invalidFilter" }),
		);
	}
});

test("the path of a PATCH operation is read in every form of RFC 7644", () => {
	expect(parsePath("members")).toMatchObject({ attribute: "members" });
	expect(parsePath("name.familyName")).toMatchObject({
		attribute: "name",
		sub: "familyname",
	});
	expect(parsePath('addresses[type eq "work"]')).toMatchObject({
		attribute: "addresses",
		filter: compare("type", "eq", "work"),
	});
	expect(
		parsePath('members[value eq "2819c223-7f76"].displayName'),
	).toMatchObject({ attribute: "members", sub: "displayname" });
	expect(
		parsePath(
			"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department",
		),
	).toMatchObject({ isExtension: true });
	for (const wrong of ["", "a.b.c", "a[b pr]c", "a[b pr", "a b", '"a"']) {
		expect(() => parsePath(wrong), wrong).toThrow(
			expect.objectContaining({ scimType: "invalidPath" }),
		);
	}
});

test("an element of a list matches a filter without regard to case", () => {
	const one = { type: "Work", value: "ada@example.com", primary: true };
	for (const [filter, expected] of [
		['type eq "work"', true],
		['TYPE ne "work"', false],
		['value ew "@EXAMPLE.com" and primary eq true', true],
		["not (display pr)", true],
		['value sw "b" or value co "da@"', true],
		['value gt "a" and value lt "b"', true],
		["primary eq false", false],
	] as const) {
		expect(matches(one, parseFilter(filter)), filter).toBe(expected);
	}
});
