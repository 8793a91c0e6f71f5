import { createRoute } from "@tanstack/react-router";
import { parseListSearch } from "../list-search.ts";
import { organization } from "./organization-route.ts";
import { page, withText } from "./route-parts.ts";

const settingsOrganization = createRoute({
	getParentRoute: () => organization,
	path: "/settings/organization",
	component: page(() => import("../pages/settings/organization-page.tsx")),
});

const settingsDevicePolicy = createRoute({
	getParentRoute: () => organization,
	path: "/settings/device-policy",
	validateSearch: (raw): { group?: string } => withText(raw, "group"),
	component: page(() => import("../pages/settings/device-policy-page.tsx")),
});

const settingsMembers = createRoute({
	getParentRoute: () => organization,
	path: "/settings/members",
	validateSearch: parseListSearch,
	component: page(() => import("../pages/settings/members-page.tsx")),
});

const settingsMember = createRoute({
	getParentRoute: () => organization,
	path: "/settings/members/$id",
	component: page(() => import("../pages/settings/member-page.tsx")),
});

const settingsSignIn = createRoute({
	getParentRoute: () => organization,
	path: "/settings/sign-in",
	component: page(() => import("../pages/settings/sign-in-settings-page.tsx")),
});

const settingsApiTokens = createRoute({
	getParentRoute: () => organization,
	path: "/settings/api-tokens",
	validateSearch: (
		raw,
	): { token?: string; of?: string; age?: string; from?: string } =>
		withText(raw, "token", "of", "age", "from"),
	component: page(() => import("../pages/settings/api-tokens-page.tsx")),
});

const settingsWebhooks = createRoute({
	getParentRoute: () => organization,
	path: "/settings/webhooks",
	component: page(() => import("../pages/settings/webhooks-page.tsx")),
});

const settingsNotifications = createRoute({
	getParentRoute: () => organization,
	path: "/settings/notifications",
	component: page(() => import("../pages/settings/notifications-page.tsx")),
});

const settingsMail = createRoute({
	getParentRoute: () => organization,
	path: "/settings/mail",
	component: page(() => import("../pages/settings/mail-page.tsx")),
});

const settingsAuditLog = createRoute({
	getParentRoute: () => organization,
	path: "/settings/audit-log",
	validateSearch: parseListSearch,
	component: page(() => import("../pages/settings/audit-log-page.tsx")),
});

/** The pages under Settings. */
export const settingsRoutes = [
	settingsOrganization,
	settingsDevicePolicy,
	settingsMembers,
	settingsMember,
	settingsSignIn,
	settingsApiTokens,
	settingsWebhooks,
	settingsNotifications,
	settingsMail,
	settingsAuditLog,
] as const;
