import { GROUP_SCHEMA } from "./group-store.ts";
import { PAGE } from "./list-query.ts";
import { USER_SCHEMA } from "./user-resource.ts";

type Resource = Record<string, unknown>;

const NO = { supported: false };

/** Says what this service can do (RFC 7643 section 5). */
export function serviceProviderConfig(baseUrl: string): Resource {
	return {
		schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
		patch: { supported: true },
		bulk: { ...NO, maxOperations: 0, maxPayloadSize: 0 },
		filter: { supported: true, maxResults: PAGE },
		changePassword: NO,
		sort: NO,
		etag: NO,
		authenticationSchemes: [
			{
				type: "oauthbearertoken",
				name: "Bearer token",
				description:
					"A credential that an administrator makes in Assay under Settings, Sign-in, Provisioning. It acts for one organization.",
				specUri: "https://www.rfc-editor.org/info/rfc6750",
				primary: true,
			},
		],
		meta: {
			resourceType: "ServiceProviderConfig",
			location: `${baseUrl}/ServiceProviderConfig`,
		},
	};
}

export function resourceTypes(baseUrl: string): Resource[] {
	const type = (name: string, schema: string, description: string) => ({
		schemas: ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
		id: name,
		name,
		endpoint: `/${name}s`,
		description,
		schema,
		schemaExtensions: [],
		meta: {
			resourceType: "ResourceType",
			location: `${baseUrl}/ResourceTypes/${name}`,
		},
	});
	return [
		type("User", USER_SCHEMA, "A member of the organization"),
		type("Group", GROUP_SCHEMA, "A group of members, which may give a role"),
	];
}

interface Options {
	type?: string;
	required?: boolean;
	caseExact?: boolean;
	mutability?: string;
	uniqueness?: string;
	multiValued?: boolean;
	referenceTypes?: string[];
	canonicalValues?: string[];
	subAttributes?: Resource[];
}

function attribute(
	name: string,
	description: string,
	{ type = "string", ...options }: Options = {},
): Resource {
	return {
		name,
		type,
		multiValued: false,
		description,
		required: false,
		...(type === "string" || type === "reference"
			? { caseExact: false, uniqueness: "none" }
			: {}),
		mutability: "readWrite",
		returned: "default",
		...options,
	};
}

const READ_ONLY = { mutability: "readOnly" };
const IMMUTABLE = { mutability: "immutable" };

const EXTERNAL_ID = attribute(
	"externalId",
	"Identifier of the resource at the client",
	{ caseExact: true },
);

const USER_ATTRIBUTES = [
	attribute(
		"userName",
		"Name of the user at the client, unique in the organization",
		{
			required: true,
			uniqueness: "server",
		},
	),
	EXTERNAL_ID,
	attribute("name", "Parts of the user's name", {
		type: "complex",
		subAttributes: [
			attribute("formatted", "The whole name"),
			attribute("familyName", "Family name"),
			attribute("givenName", "Given name"),
		],
	}),
	attribute("displayName", "Name that is shown for a new account"),
	attribute("title", "Position of the user"),
	attribute("active", "False ends the membership in the organization at once", {
		type: "boolean",
	}),
	attribute(
		"emails",
		"Addresses in verified domains. The primary one finds or makes the account",
		{
			type: "complex",
			multiValued: true,
			subAttributes: [
				attribute("value", "The address", { required: true }),
				attribute("type", "Kind of the address, such as work", {
					canonicalValues: ["work", "home", "other"],
				}),
				attribute("display", "The address as it is shown"),
				attribute("primary", "True for the address of the account", {
					type: "boolean",
				}),
			],
		},
	),
	attribute("groups", "Groups of the user", {
		type: "complex",
		multiValued: true,
		...READ_ONLY,
		subAttributes: [
			attribute("value", "Id of the group", READ_ONLY),
			attribute("$ref", "Address of the group", {
				type: "reference",
				referenceTypes: ["Group"],
				...READ_ONLY,
			}),
			attribute("display", "Name of the group", READ_ONLY),
			attribute("type", "Always direct", {
				...READ_ONLY,
				canonicalValues: ["direct"],
			}),
		],
	}),
];

const GROUP_ATTRIBUTES = [
	attribute("displayName", "Name of the group, unique in the organization", {
		required: true,
		uniqueness: "server",
	}),
	EXTERNAL_ID,
	attribute("members", "Users of the group", {
		type: "complex",
		multiValued: true,
		subAttributes: [
			attribute("value", "Id of the user", { ...IMMUTABLE, required: true }),
			attribute("$ref", "Address of the user", {
				type: "reference",
				referenceTypes: ["User"],
				...IMMUTABLE,
			}),
			attribute("type", "Always User", {
				...IMMUTABLE,
				canonicalValues: ["User"],
			}),
		],
	}),
];

/** Describes the attributes of users and groups (RFC 7643 section 7). */
export function schemas(baseUrl: string): Resource[] {
	const schema = (
		id: string,
		name: string,
		description: string,
		attributes: Resource[],
	) => ({
		schemas: ["urn:ietf:params:scim:schemas:core:2.0:Schema"],
		id,
		name,
		description,
		attributes,
		meta: { resourceType: "Schema", location: `${baseUrl}/Schemas/${id}` },
	});
	return [
		schema(
			USER_SCHEMA,
			"User",
			"A member of the organization",
			USER_ATTRIBUTES,
		),
		schema(GROUP_SCHEMA, "Group", "A group of members", GROUP_ATTRIBUTES),
	];
}
