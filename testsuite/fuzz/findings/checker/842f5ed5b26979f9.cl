// fuzz: CL2.0
n{struct S{{}1;({h{}});//
struct S{}s=({a[1]=t;});out[5]=s[1]+s.a[2];while(({int t=n--;t>0;}))//
out[6]++;