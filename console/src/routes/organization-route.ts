import { createRoute } from "@tanstack/react-router";
import { NOW } from "../past.ts";
import { InOrganization } from "../shell/in-organization.tsx";
import { signedIn } from "./root-routes.ts";
import { withText } from "./route-parts.ts";

/** The frame around the pages of an organization. */
export const organization = createRoute({
	getParentRoute: () => signedIn,
	path: "/o/$org",
	/** `as_of` is a past day as YYYY-MM-DD. Links within the organization keep it. */
	validateSearch: (raw): { as_of?: string } => withText(raw, "as_of"),
	search: {
		middlewares: [
			({ search, next }) => {
				const { as_of = search.as_of, ...others } = next(search);
				return as_of && as_of !== NOW ? { ...others, as_of } : others;
			},
		],
	},
	component: InOrganization,
});
