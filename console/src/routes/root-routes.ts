import {
	createRootRoute,
	createRoute,
	Outlet,
	redirect,
} from "@tanstack/react-router";
import { ErrorWindow } from "../parts/error-state.tsx";
import { meQuery, organizationsQuery, queryClient } from "../queries.ts";
import { Shell } from "../shell/shell.tsx";

export const root = createRootRoute({ component: Outlet });

/** The frame around the pages of a signed-in user. */
export const signedIn = createRoute({
	getParentRoute: () => root,
	id: "signed-in",
	beforeLoad: async ({ location }) => {
		const me = await queryClient.ensureQueryData(meQuery);
		if (!me) {
			const to = location.href === "/" ? undefined : location.href;
			throw redirect({ to: "/sign-in", search: to ? { to } : {} });
		}
		await queryClient.ensureQueryData(organizationsQuery);
	},
	component: Shell,
	errorComponent: ErrorWindow,
});
