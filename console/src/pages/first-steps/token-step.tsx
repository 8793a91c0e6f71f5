import { useOrganization } from "../../organization.ts";
import { ButtonLink } from "../../parts/links.tsx";

/** Links to the form for a new API token. The page with the form links back to the first steps. */
export function TokenStep({ isDone }: { isDone: boolean }) {
	const { organizationId: org } = useOrganization();
	return (
		<ButtonLink
			to="/o/$org/settings/api-tokens"
			params={{ org }}
			search={{ token: "new", from: "first-steps" }}
			variant={isDone ? "default" : "filled"}
			style={{ alignSelf: "flex-start" }}
		>
			Create a token
		</ButtonLink>
	);
}
