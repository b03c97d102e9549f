"""Systems of other engines, call for call, and the lab that compares them with ours."""
