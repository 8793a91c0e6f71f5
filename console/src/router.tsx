import { createRoute, createRouter, redirect } from "@tanstack/react-router";
import { lastOrganization } from "./organization.ts";
import { ErrorPage, NotFoundPage } from "./parts/error-state.tsx";
import { PageSkeleton } from "./parts/page-skeleton.tsx";
import {
	meQuery,
	onSignedOut,
	organizationsQuery,
	queryClient,
} from "./queries.ts";
import { organization } from "./routes/organization-route.ts";
import { organizationRoutes } from "./routes/organization-routes.ts";
import { root, signedIn } from "./routes/root-routes.ts";
import { page } from "./routes/route-parts.ts";
import { settingsRoutes } from "./routes/settings-routes.ts";
import { visitorRoutes } from "./routes/visitor-routes.ts";

const start = createRoute({
	getParentRoute: () => signedIn,
	path: "/",
	beforeLoad: async () => {
		const found = await queryClient.ensureQueryData(organizationsQuery);
		const last = lastOrganization();
		const organization = found.find(({ id }) => id === last) ?? found[0];
		if (organization) {
			throw redirect({
				to: "/o/$org",
				params: { org: organization.id },
				replace: true,
			});
		}
	},
	component: page(() => import("./pages/home/no-organization-page.tsx")),
});

const account = createRoute({
	getParentRoute: () => signedIn,
	path: "/account",
	component: page(() => import("./pages/account/account-page.tsx")),
});

const help = createRoute({
	getParentRoute: () => signedIn,
	path: "/help/$page",
	component: page(() => import("./pages/help/help-page.tsx")),
});

const helpStart = createRoute({
	getParentRoute: () => signedIn,
	path: "/help",
	beforeLoad: toFirstGuide,
});

const organizationHelp = createRoute({
	getParentRoute: () => organization,
	path: "/help",
	beforeLoad: toFirstGuide,
});

/** Opens the first guide, which has the list of all guides beside it. */
function toFirstGuide(): never {
	throw redirect({
		to: "/help/$page",
		params: { page: "console" },
		replace: true,
	});
}

/** All addresses of the console. `<Link to="…">` and `navigate` accept only these. */
const routeTree = root.addChildren([
	...visitorRoutes,
	signedIn.addChildren([
		start,
		account,
		helpStart,
		help,
		organization.addChildren([
			organizationHelp,
			...organizationRoutes,
			...settingsRoutes,
		]),
	]),
]);

/** The router of the console. It knows every page by its address. */
export const router = createRouter({
	routeTree,
	defaultPreload: "intent",
	scrollRestoration: true,
	defaultPendingComponent: PageSkeleton,
	defaultErrorComponent: ErrorPage,
	defaultNotFoundComponent: NotFoundPage,
});

declare module "@tanstack/react-router" {
	interface Register {
		router: typeof router;
	}
}

onSignedOut(() => {
	const { pathname, href } = router.state.location;
	if (pathname === "/sign-in") return;
	// A form with unsaved input may prevent this navigation. Its page then stays as it is.
	queryClient.removeQueries({ queryKey: meQuery.queryKey });
	void router.navigate({
		to: "/sign-in",
		search: { to: href, ended: true },
	});
});

// When a user has signed out, none of the loaded data may remain for the next user.
router.subscribe("onResolved", ({ toLocation, fromLocation }) => {
	if (fromLocation && toLocation.pathname === "/sign-in") queryClient.clear();
});
