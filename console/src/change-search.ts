import { type NavigateOptions, useNavigate } from "@tanstack/react-router";

type Options = Pick<NavigateOptions, "replace" | "resetScroll" | "state">;

/**
 * Returns a function that changes the search parameters of the address and stays on the page. It
 * keeps the scroll position, unless the options say otherwise.
 */
export function useChangeSearch() {
	const navigate = useNavigate();
	return <Search extends object>(
		change: (before: Search) => object,
		options: Options = {},
	) =>
		navigate({
			to: ".",
			resetScroll: false,
			...options,
			search: change,
			// "." is any page, and the router knows the parameters only of a page that is named.
		} as never);
}
