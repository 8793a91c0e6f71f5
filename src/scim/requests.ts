import type { ScimCaller, ScimContext } from "./client.ts";
import { resourceTypes, schemas, serviceProviderConfig } from "./discovery.ts";
import { findGroups } from "./group-store.ts";
import {
	changeGroupByPatch,
	createGroup,
	deleteGroup,
	readGroupResource,
	replaceGroup,
} from "./groups.ts";
import {
	type ListQuery,
	listResponse,
	project,
	readListQuery,
} from "./list-query.ts";
import { ScimError } from "./scim-error.ts";
import { requireObject } from "./user-resource.ts";
import { findUsers, toUser } from "./user-store.ts";
import {
	changeUserByPatch,
	createUser,
	deleteUser,
	readUserResource,
	replaceUser,
} from "./users.ts";

type Resource = Record<string, unknown>;

export interface ScimRequest {
	method: string;
	/** What follows /scim/v2/ in the address, without the query. */
	path: string;
	query: URLSearchParams;
}

export interface ScimAnswer {
	status: number;
	body?: Resource;
	/** The address of a new resource. */
	location?: string;
}

/** The task of a request. Its method and address tell it before its body is read. */
export interface Route {
	/** The address without ids, for the list of requests. */
	name: string;
	hasBody: boolean;
	changes: boolean;
	/** Answers without the database. */
	discover?: (caller: ScimCaller) => ScimAnswer;
	run?: (context: ScimContext, body: unknown) => Promise<ScimAnswer>;
}

/** The doors of one type of resource. */
interface Kind {
	list: (context: ScimContext, query: ListQuery) => Promise<Resource>;
	create: (context: ScimContext, body: object) => Promise<Resource>;
	read: (
		context: ScimContext,
		id: string,
		withMembers: boolean,
	) => Promise<Resource>;
	replace: (
		context: ScimContext,
		id: string,
		body: object,
	) => Promise<Resource>;
	patch: (context: ScimContext, id: string, body: object) => Promise<Resource>;
	remove: (context: ScimContext, id: string) => Promise<void>;
}

const KINDS: Record<string, Kind> = {
	Users: {
		list: async (context, query) => {
			const { client, organizationId } = context;
			const { rows, total } = await findUsers(client, organizationId, query);
			const users = rows.map((row) => project(toUser(context, row), query));
			return listResponse(users, total, query.startIndex);
		},
		create: createUser,
		read: readUserResource,
		replace: replaceUser,
		patch: changeUserByPatch,
		remove: deleteUser,
	},
	Groups: {
		list: async (context, query) => {
			const { resources, total } = await findGroups(
				context,
				query,
				wantsMembers(query),
			);
			const groups = resources.map((group) => project(group, query));
			return listResponse(groups, total, query.startIndex);
		},
		create: createGroup,
		read: readGroupResource,
		replace: replaceGroup,
		patch: changeGroupByPatch,
		remove: deleteGroup,
	},
};

function wantsMembers({ attributes, excluded }: ListQuery): boolean {
	if (excluded.has("members")) return false;
	return (
		!attributes || [...attributes].some((name) => name.startsWith("members"))
	);
}

/** Finds what a request does. Throws 404, 405 or 501. */
export function findRoute({ method, path, query }: ScimRequest): Route {
	const [top = "", id, ...more] = path.split("/");
	if (top === "Bulk" || top === "Me") {
		throw new ScimError(501, `${top} is not supported`);
	}
	const discovery = DISCOVERY[top];
	if (discovery && more.length === 0) {
		if (method !== "GET") throw notAllowed(["GET"]);
		return {
			name: top,
			hasBody: false,
			changes: false,
			discover: ({ baseUrl }) => discovery(baseUrl, id, query),
		};
	}
	if (top === ".search" && id === undefined) return searchAllRoute(method);
	const kind = KINDS[top];
	if (!kind || more.length > 0 || id === "") throw nothingHere();
	if (id !== undefined && !/^[\w.-]{1,64}$/.test(id)) throw nothingHere();
	if (id === undefined) return collectionRoute(kind, top, method, query);
	if (id === ".search") return searchRoute(kind, top, method);
	return resourceRoute(kind, `${top}/ID`, id, method, query);
}

function collectionRoute(
	kind: Kind,
	name: string,
	method: string,
	query: URLSearchParams,
): Route {
	if (method === "GET") {
		const list = readListQuery(Object.fromEntries(query));
		return {
			name,
			hasBody: false,
			changes: false,
			run: async (context) => ({
				status: 200,
				body: await kind.list(context, list),
			}),
		};
	}
	if (method !== "POST") throw notAllowed(["GET", "POST"]);
	const shape = readListQuery(Object.fromEntries(query));
	return {
		name,
		hasBody: true,
		changes: true,
		run: async (context, body) => {
			const made = await kind.create(context, requireObject(body));
			const { location } = made.meta as { location: string };
			return { status: 201, body: project(made, shape), location };
		},
	};
}

function searchRoute(kind: Kind, name: string, method: string): Route {
	if (method !== "POST") throw notAllowed(["POST"]);
	return {
		name: `${name}/.search`,
		hasBody: true,
		changes: false,
		run: async (context, body) => ({
			status: 200,
			body: await kind.list(
				context,
				readListQuery(requireObject(body) as Resource),
			),
		}),
	};
}

/** Searches users and then groups. A filter finds nothing among those that it cannot be for. */
function searchAllRoute(method: string): Route {
	if (method !== "POST") throw notAllowed(["POST"]);
	return {
		name: ".search",
		hasBody: true,
		changes: false,
		run: async (context, body) => {
			const query = readListQuery(requireObject(body) as Resource);
			return { status: 200, body: await searchAll(context, query) };
		},
	};
}

async function searchAll(
	context: ScimContext,
	query: ListQuery,
): Promise<Resource> {
	const found: Resource[] = [];
	const refusals: ScimError[] = [];
	let total = 0;
	for (const kind of Object.values(KINDS)) {
		try {
			const page = await kind.list(context, {
				...query,
				startIndex: Math.max(query.startIndex - total, 1),
				count: query.count - found.length,
			});
			total += page.totalResults as number;
			found.push(...(page.Resources as Resource[]));
		} catch (error) {
			// The filter is refused before any query is sent.
			const isForOthers =
				error instanceof ScimError && error.scimType === "invalidFilter";
			if (!isForOthers) throw error;
			refusals.push(error);
		}
	}
	const [refusal] = refusals;
	if (refusal && refusals.length === Object.keys(KINDS).length) throw refusal;
	return listResponse(found, total, query.startIndex);
}

function resourceRoute(
	kind: Kind,
	name: string,
	id: string,
	method: string,
	query: URLSearchParams,
): Route {
	const shape = readListQuery(Object.fromEntries(query));
	const answer = (resource: Resource): ScimAnswer => ({
		status: 200,
		body: project(resource, shape),
	});
	switch (method) {
		case "GET":
			return {
				name,
				hasBody: false,
				changes: false,
				run: async (context) =>
					answer(await kind.read(context, id, wantsMembers(shape))),
			};
		case "PUT":
		case "PATCH": {
			const change = method === "PUT" ? kind.replace : kind.patch;
			return {
				name,
				hasBody: true,
				changes: true,
				run: async (context, body) =>
					answer(await change(context, id, requireObject(body))),
			};
		}
		case "DELETE":
			return {
				name,
				hasBody: false,
				changes: true,
				run: async (context) => {
					await kind.remove(context, id);
					return { status: 204 };
				},
			};
		default:
			throw notAllowed(["GET", "PUT", "PATCH", "DELETE"]);
	}
}

type Discovery = (
	baseUrl: string,
	id: string | undefined,
	query: URLSearchParams,
) => ScimAnswer;

const DISCOVERY: Record<string, Discovery> = {
	ServiceProviderConfig: (baseUrl, id) => {
		if (id !== undefined) throw nothingHere();
		return { status: 200, body: serviceProviderConfig(baseUrl) };
	},
	ResourceTypes: (baseUrl, id, query) =>
		listOrOne(resourceTypes(baseUrl), id, query),
	Schemas: (baseUrl, id, query) => listOrOne(schemas(baseUrl), id, query),
};

function listOrOne(
	all: Resource[],
	id: string | undefined,
	query: URLSearchParams,
): ScimAnswer {
	// RFC 7644 section 4 wants a refusal, so that nobody takes the whole list as filtered.
	if (query.has("filter")) {
		throw new ScimError(403, "this list cannot be filtered");
	}
	if (id === undefined) {
		return { status: 200, body: listResponse(all, all.length, 1) };
	}
	const found = all.find((one) => one.id === id);
	if (!found) throw nothingHere();
	return { status: 200, body: found };
}

/** A method that an address does not have. */
export class MethodNotAllowed extends ScimError {
	readonly methods: string[];

	constructor(methods: string[]) {
		super(405, `the method must be ${methods.join(", ")} at this address`);
		this.methods = methods;
	}
}

function notAllowed(methods: string[]): ScimError {
	return new MethodNotAllowed(methods);
}

function nothingHere(): ScimError {
	return new ScimError(
		404,
		"there is nothing at this address; the addresses are Users, Groups, ServiceProviderConfig, ResourceTypes and Schemas",
	);
}
