import { afterAll, beforeAll, expect, test } from "vitest";
import { type ScimStand, startScim, USER } from "./stand.ts";

let stand: ScimStand;
beforeAll(async () => {
	stand = await startScim();
});
afterAll(() => stand.close());

let made = 0;
const freshName = () => `person-${++made}@example.com`;

test("PATCH adds, replaces and removes values of a list (section 3.5.2)", async () => {
	const [a, b, c] = [freshName(), freshName(), freshName()];
	const { id } = await stand.provision(a, {
		emails: [{ value: a, type: "work", primary: true }],
	});
	const patch = async (...operations: object[]) => {
		const { status, body } = await stand.patch(`Users/${id}`, ...operations);
		expect(status, JSON.stringify(body)).toBe(200);
		return (body.emails ?? []).map(
			(one: { value: string; primary?: boolean }) =>
				one.value + (one.primary ? "!" : ""),
		);
	};
	expect(
		await patch({
			op: "add",
			path: "emails",
			value: [{ value: b, primary: true }],
		}),
	).toEqual([a, `${b}!`]);
	expect(
		await patch({ op: "add", path: 'emails[type eq "home"].value', value: c }),
	).toEqual([a, `${b}!`, c]);
	expect(
		await patch({ op: "remove", path: `emails[value eq "${b}"]` }),
	).toEqual([a, c]);
	expect(
		await patch({ op: "remove", path: "emails", value: [{ value: c }] }),
	).toEqual([a]);
	expect(await patch({ op: "remove", path: "emails" })).toEqual([]);
});

test("a wrong PATCH changes nothing and names its error (section 3.12)", async () => {
	const user = await stand.provision(freshName());
	for (const [operation, scimType] of [
		[{ op: "replace", path: "id", value: "x" }, "mutability"],
		[{ op: "replace", path: "groups", value: [] }, "mutability"],
		[{ op: "remove", path: "userName" }, "mutability"],
		[{ op: "remove" }, "noTarget"],
		[
			{ op: "replace", path: 'emails[value co "none"].value', value: "a@b.c" },
			"noTarget",
		],
		[{ op: "replace", path: "shoeSize", value: 1 }, "invalidPath"],
		[{ op: "replace", path: "name.", value: 1 }, "invalidPath"],
		[{ op: "replace", path: "a[", value: 1 }, "invalidPath"],
		[{ op: "replace", path: "active", value: "perhaps" }, "invalidValue"],
		[{ op: "replace", path: "userName", value: "" }, "invalidValue"],
		[{ op: "replace", path: "title", value: { a: 1 } }, "invalidValue"],
		[{ op: "replace", value: "x" }, "invalidValue"],
		[{ op: "move", path: "title", value: "x" }, "invalidValue"],
		[
			{
				op: "add",
				path: "emails",
				value: [{ value: "x@gmail.com", primary: true }],
			},
			"invalidValue",
		],
	] as const) {
		const { status, body } = await stand.patch(
			`Users/${user.id}`,
			{ op: "replace", path: "displayName", value: "changed" },
			operation,
		);
		expect(
			{ status, scimType: body.scimType },
			JSON.stringify(operation),
		).toEqual({ status: 400, scimType });
	}
	const { body } = await stand.scim("GET", `Users/${user.id}`);
	expect(body).toEqual(user);
	const noSchema = await stand.scim("PATCH", `Users/${user.id}`, {
		Operations: [{ op: "replace", path: "title", value: "x" }],
	});
	expect(noSchema.status).toBe(400);
});

test("pages are counted from 1 and stay within 100 (section 3.4.2.4)", async () => {
	for (let n = 0; n < 8; n++) await stand.provision(freshName());
	const { body: all } = await stand.scim("GET", "Users?count=100");
	const ids: string[] = [];
	for (let from = 1; from <= all.totalResults; from += 3) {
		const { body } = await stand.scim(
			"GET",
			`Users?startIndex=${from}&count=3`,
		);
		ids.push(...body.Resources.map(({ id }: { id: string }) => id));
	}
	expect(ids).toEqual(all.Resources.map(({ id }: { id: string }) => id));
	expect(new Set(ids).size).toBe(all.totalResults);
	for (const [query, expected] of [
		["count=0", { itemsPerPage: 0, totalResults: all.totalResults }],
		["count=-5", { itemsPerPage: 0 }],
		["startIndex=-3&count=1", { startIndex: 1, itemsPerPage: 1 }],
		["startIndex=100000", { itemsPerPage: 0 }],
		["count=100000000", { totalResults: all.totalResults }],
		["startIndex=&count=", { startIndex: 1, itemsPerPage: all.itemsPerPage }],
	] as const) {
		expect((await stand.scim("GET", `Users?${query}`)).body).toMatchObject(
			expected,
		);
	}
	expect((await stand.scim("GET", "Users?count=many")).status).toBe(400);
});

test("the client chooses the attributes of an answer (section 3.9), also with a search (section 3.4.3)", async () => {
	const user = await stand.provision(freshName(), {
		name: { givenName: "Ada", familyName: "L" },
	});
	const few = await stand.scim(
		"GET",
		`Users/${user.id}?attributes=userName,name.givenName`,
	);
	expect(few.body).toEqual({
		schemas: [USER],
		id: user.id,
		userName: user.userName,
		name: { givenName: "Ada" },
	});
	const fewer = await stand.scim(
		"GET",
		`Users/${user.id}?excludedAttributes=name,meta`,
	);
	expect(Object.keys(fewer.body)).toEqual([
		"schemas",
		"id",
		"userName",
		"active",
	]);
	const search = await stand.scim("POST", "Users/.search", {
		schemas: ["urn:ietf:params:scim:api:messages:2.0:SearchRequest"],
		attributes: ["userName"],
		filter: `userName eq "${user.userName}"`,
		startIndex: 1,
		count: 10,
	});
	expect(search.body.Resources).toEqual([
		{ schemas: [USER], id: user.id, userName: user.userName },
	]);
	const everywhere = async (body: object) =>
		(await stand.scim("POST", ".search", body)).body;
	const { id } = await stand.makeGroup("Searched");
	const all = await everywhere({ count: 0 });
	const last = await everywhere({ startIndex: all.totalResults, count: 5 });
	expect(last.Resources).toMatchObject([{ id, displayName: "Searched" }]);
	const groups = await everywhere({ filter: 'displayName eq "searched"' });
	expect(groups.totalResults).toBe(1);
	const users = await everywhere({
		filter: `userName eq "${user.userName}"`,
	});
	expect(users).toMatchObject({ totalResults: 1, itemsPerPage: 1 });
	expect((await everywhere({ filter: "shoeSize pr" })).scimType).toBe(
		"invalidFilter",
	);
});

test("every operator of a filter gives what RFC 7644 says, and others are refused", async () => {
	const name = `op-${++made}@example.com`;
	await stand.provision(name, { displayName: "Operator", title: "CTO" });
	const count = async (filter: string) => {
		const { status, body } = await stand.scim(
			"GET",
			`Users?filter=${encodeURIComponent(`userName eq "${name}" and (${filter})`)}`,
		);
		return status === 200 ? body.totalResults : body.scimType;
	};
	for (const [filter, expected] of [
		['displayName eq "OPERATOR"', 1],
		['displayName ne "Operator"', 0],
		['title ne "x"', 1],
		['displayName co "RAT"', 1],
		['displayName sw "op"', 1],
		['displayName ew "tor"', 1],
		['displayName gt "a"', 1],
		['displayName le "a"', 0],
		["title pr", 1],
		["externalId pr", 0],
		["externalId eq null", 1],
		['not (externalId eq "x")', 1],
		["active eq true", 1],
		['active ne "False"', 1],
		["emails pr", 0],
		['meta.lastModified ge "2020-01-01T00:00:00Z"', 1],
		['groups.value eq "x"', 0],
		['displayName co "%" or displayName co "_"', 0],
		['password eq "x"', "invalidFilter"],
		["active gt true", "invalidFilter"],
		['meta.created gt "soon"', "invalidFilter"],
		["displayName eq 5", "invalidFilter"],
		["1; drop table users", "invalidFilter"],
	] as const) {
		expect(await count(filter), filter).toBe(expected);
	}
});
