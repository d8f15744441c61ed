"""Global and local attention to a recurrent memory (Luong et al., 2015)."""
